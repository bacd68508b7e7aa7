package dev.activator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.cluster.decode.Items;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.testing.faults.Failure;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Fault.FailWatch.Ending;
import dev.activator.testing.faults.When;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the client library promises by itself, and the layer above relies on. */
class LibraryContractTest {
  private final Rig rig = new Rig();
  private final List<String> heard = new CopyOnWriteArrayList<>();
  private SharedIndexInformer<Items.OfEndpoints> informer;

  @BeforeEach
  void start() {
    rig.touch("a");
    rig.touch("b");
    informer = Rig.ENDPOINTS.of(rig.client).runnableInformer(0)
        .exceptionHandler((started, failure) -> true);
    informer.addEventHandler(new Notes());
    informer.start();
    rig.begin();
    hears("list", "add a", "add b");
    rig.touch("c");
    hears("add c");
  }

  @AfterEach
  void close() {
    informer.stop();
    rig.close();
  }

  private void hears(String... expected) {
    await().atMost(Rig.PATIENCE)
        .untilAsserted(() -> assertThat(heard).containsExactlyInAnyOrder(expected));
    heard.clear();
  }

  private void strikeAll(Fault.OnOpen fault) {
    assertThat(rig.api.faults().strike(Rig.WATCHES, fault)).isNotEmpty();
  }

  @Test
  @DisplayName("2.1 6.3 goes on after a reset from the last version, without a list")
  void goesOnAfterAReset() {
    strikeAll(new Fault.Reset(When.now()));
    rig.touch("a");
    rig.delete("b");

    hears("update a", "delete b");
  }

  @Test
  @DisplayName("2.5 3.1 what is cached decides, not what an event says it is")
  void decidesByWhatIsCached() {
    rig.api.faults().once(Rig.WATCHES, new Fault.Duplicate(1, Fault.Duplicate.As.ADDED));
    strikeAll(new Fault.Reset(When.now()));

    rig.touch("a");
    rig.delete("b");
    hears("update a", "delete b");
  }

  @Test
  @DisplayName("3.2 the cache holds what is told, or something newer")
  void cachesBeforeItTells() {
    for (int i = 0; i < 200; i++) {
      rig.touch("a");
    }

    await().atMost(Rig.PATIENCE).until(() -> heard.size() == 200);
    assertThat(heard).containsOnly("update a");
  }

  @Test
  @DisplayName("5.9 tells once that a deletion was missed, and keeps a new one of the same name")
  void tellsOnceOfAMissedDeletion() {
    rig.api.disruptions().freeze(Duration.ofMillis(500), Kinds.ENDPOINTS);
    rig.delete("a");
    rig.delete("b");
    rig.touch("b");
    strikeAll(new Fault.FailWatch(When.now(), Failure.of(410, 0), Ending.LATER));

    await().atMost(Rig.PATIENCE).untilAsserted(() -> assertThat(heard).contains("list"));
    hears("list", "lose a", "update b");
  }

  private final class Notes implements ResourceEventHandler<Items.OfEndpoints> {
    @Override
    public void onAdd(Items.OfEndpoints item) {
      heard.add("add " + item.getMetadata().getName());
    }

    @Override
    public void onUpdate(Items.OfEndpoints before, Items.OfEndpoints now) {
      var cached = informer.getStore().getByKey(now.key());
      boolean stale = cached != null && version(cached) < version(now);
      heard.add((stale ? "too early " : "update ") + now.getMetadata().getName());
    }

    @Override
    public void onDelete(Items.OfEndpoints last, boolean unknown) {
      heard.add((unknown ? "lose " : "delete ") + last.getMetadata().getName());
    }

    @Override
    public void onList(@Nullable String version, boolean remainedEmpty) {
      heard.add("list");
    }

    private static long version(Items.OfEndpoints item) {
      return Long.parseLong(item.getMetadata().getResourceVersion());
    }
  }
}
