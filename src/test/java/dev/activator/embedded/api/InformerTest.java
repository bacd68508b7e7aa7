package dev.activator.embedded.api;

import static dev.activator.embedded.api.Objects.labelled;
import static dev.activator.embedded.api.Objects.with;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINTS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.embedded.api.cache.Windows;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.testing.EmbeddedApi;
import io.fabric8.kubernetes.api.model.Endpoints;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An unmodified client library, over WebSocket watches and over plain ones. */
class InformerTest {
  private final EmbeddedApi api = EmbeddedApi
      .start(Windows.of(100));
  private final ApiStore store = api.store();
  private final List<String> received = new CopyOnWriteArrayList<>();
  private KubernetesClient client;

  @AfterEach
  void stop() {
    client.close();
    api.close();
  }

  @ParameterizedTest(name = "HTTP watches only: {0}")
  @ValueSource(booleans = {false, true})
  void receivesWhatIsAddedChangedAndDeletedUnderItsSelector(boolean onlyHttp) {
    // given one object of each label, and an informer of one label
    store.create(ENDPOINTS, labelled("old", "l", "1"));
    store.create(ENDPOINTS, labelled("other", "l", "2"));
    try (var informer = informer(onlyHttp)) {
      await().until(informer::hasSynced);

      // when objects come, change, lose the label and go
      store.create(ENDPOINTS, labelled("new", "l", "1"));
      store.writes().update(ENDPOINTS, with(labelled("new", "l", "1"), "k", "v"));
      store.writes().update(ENDPOINTS, labelled("old", "l", "2"));
      store.delete(ENDPOINTS, "default", "new");

      // then it hears of all that concerns it, in order
      await().untilAsserted(() -> assertThat(received)
          .containsExactly("add old", "add new", "update new", "delete old", "delete new"));
    }
  }

  @ParameterizedTest(name = "HTTP watches only: {0}")
  @ValueSource(booleans = {false, true})
  void goesOnAfterTheServerEndedItsWatch(boolean onlyHttp) {
    // given an informer that is up to date
    store.create(ENDPOINTS, labelled("a", "l", "1"));
    try (var informer = informer(onlyHttp)) {
      await().until(() -> received.contains("add a"));

      // when the server ends all watches, and things happen before it comes back
      api.endWatches();
      store.create(ENDPOINTS, labelled("b", "l", "1"));
      store.delete(ENDPOINTS, "default", "a");

      // then it hears of them, and of what comes after
      await().untilAsserted(
          () -> assertThat(received).containsExactly("add a", "add b", "delete a"));
      store.create(ENDPOINTS, labelled("c", "l", "1"));
      await().until(() -> received.contains("add c"));
      assertThat(informer.isRunning()).isTrue();
    }
  }

  @ParameterizedTest(name = "HTTP watches only: {0}")
  @ValueSource(booleans = {false, true})
  void listsAgainWhenTheEventsItMissedAreGone(boolean onlyHttp) {
    // given an informer that is up to date
    store.create(ENDPOINTS, labelled("a", "l", "1"));
    try (var informer = informer(onlyHttp)) {
      await().until(() -> received.contains("add a"));

      // when its watch ends, and far more happens than the server remembers
      api.endWatches();
      store.delete(ENDPOINTS, "default", "a");
      for (int i = 0; i < 150; i++) {
        store.create(ENDPOINTS, labelled("x" + i, "l", "2"));
      }
      store.create(ENDPOINTS, labelled("b", "l", "1"));

      // then it knows what is there now
      await().untilAsserted(() -> assertThat(received)
          .containsExactlyInAnyOrder("add a", "add b", "delete a"));
      assertThat(informer.getStore().listKeys()).containsExactly("default/b");
    }
  }

  private SharedIndexInformer<Endpoints> informer(boolean onlyHttp) {
    var config = new ConfigBuilder(Config.empty()).withMasterUrl(api.url())
        .withOnlyHttpWatches(onlyHttp).build();
    client = new KubernetesClientBuilder().withConfig(config).build();
    return client.endpoints().inAnyNamespace().withLabel("l", "1").inform(new Notes());
  }

  /** Writes down what it is told. */
  private final class Notes implements ResourceEventHandler<Endpoints> {
    @Override
    public void onAdd(Endpoints added) {
      received.add("add " + added.getMetadata().getName());
    }

    @Override
    public void onUpdate(Endpoints before, Endpoints now) {
      received.add("update " + now.getMetadata().getName());
    }

    @Override
    public void onDelete(Endpoints last, boolean unknown) {
      received.add("delete " + last.getMetadata().getName());
    }
  }
}
