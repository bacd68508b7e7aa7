package dev.activator.kube.informer;

import static dev.activator.kube.informer.Seen.all;
import static dev.activator.kube.informer.Seen.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.kube.informer.DeltaQueue.Delta;
import dev.activator.kube.informer.DeltaQueue.Popped;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DeltaQueueTest {
  private final IndexedStore<String> store = new IndexedStore<>();
  private int wakes;
  private final DeltaQueue<String> queue = new DeltaQueue<>(store, () -> wakes++);

  @Test
  @DisplayName("keeps what was seen of a key in one list, and hands all of it over")
  void groupsWhatWasSeenByKey() {
    queue.put(at("x", 1));
    queue.put(at("x", 2));
    queue.put(at("y", 1));
    queue.remove(at("x", 3));

    assertThat(popAll()).containsExactly("x: added 1, updated 2, deleted 3", "y: added 1");
  }

  @Test
  @DisplayName("serves a key in the order of its first delta that waits")
  void doesNotMoveAKeyThatIsSeenAgain() {
    queue.put(at("x", 1));
    queue.put(at("y", 1));
    queue.put(at("x", 2));
    queue.put(at("z", 1));

    assertThat(popAll()).containsExactly("x: added 1, updated 2", "y: added 1", "z: added 1");
  }

  @Test
  @DisplayName("replaces a missed deletion by the one that was seen")
  void prefersTheDeletionThatWasSeen() {
    store.put(at("x", 1));
    queue.replace(List.of());
    queue.remove(at("x", 4));

    assertThat(popAll()).containsExactly("x: deleted 4");
  }

  @Test
  @DisplayName("keeps the deletion that was seen, whatever follows")
  void keepsTheDeletionThatWasSeen() {
    store.put(at("x", 1));
    queue.remove(at("x", 4));
    queue.replace(List.of());
    queue.remove(at("x", 5));

    assertThat(popAll()).containsExactly("x: deleted 4");
  }

  @Test
  @DisplayName("collapses deletions only where they are neighbours")
  void keepsBothDeletions_whenTheObjectIsCreatedInBetween() {
    store.put(at("x", 1));
    queue.remove(at("x", 2));
    queue.put(at("x", 3));
    queue.remove(at("x", 4));

    assertThat(popAll()).containsExactly("x: deleted 2, added 3, deleted 4");
  }

  @Test
  @DisplayName("ignores the deletion of an unknown object")
  void ignoresTheDeletionOfSomethingUnknown() {
    queue.remove(at("x", 1));

    assertThat(popAll()).isEmpty();
    assertThat(wakes).isZero();
  }

  @Test
  @DisplayName("replaces everything at once: what is listed, then what is missing")
  void deletesWhatAListDoesNotShow() {
    List.of("a@1", "b@1", "c@1").forEach(text -> store.put(all(text).getFirst()));

    queue.replace(all("a@1", "b@5", "d@6"));

    assertThat(popAll()).containsExactly("a: replaced 1", "b: replaced 5", "d: replaced 6",
        "c: lost 1");
  }

  @Test
  @DisplayName("knows of what is missing the newest that was seen, stored or not")
  void reportsMissingObjectsWithTheirNewestState_whenAListReplaces() {
    store.put(at("stored", 1));
    store.put(at("both", 1));
    queue.put(at("both", 2));
    queue.put(at("queued", 3));
    queue.put(at("gone", 4));
    queue.remove(at("gone", 5));

    queue.replace(List.of());

    assertThat(popAll()).containsExactly("both: updated 2, lost 2", "queued: added 3, lost 3",
        "gone: added 4, deleted 5", "stored: lost 1");
  }

  @Test
  @DisplayName("resyncs what is stored, except where something newer waits")
  void resyncsWhatHasNothingPending() {
    store.put(at("x", 1));
    store.put(at("y", 1));
    queue.put(at("x", 2));

    queue.resync();

    assertThat(popAll()).containsExactly("x: updated 2", "y: sync 1");
  }

  @Test
  @DisplayName("blocks puts while a key is processed")
  void holdsPuttersUpWhileItProcesses() throws Exception {
    var processing = new CountDownLatch(1);
    var go = new CountDownLatch(1);
    var order = new ArrayList<String>();
    queue.put(at("x", 1));
    var popper = async(() -> queue.pop((_, _) -> {
      processing.countDown();
      awaitQuietly(go);
      order.add("processed");
      return List.of();
    }));
    processing.await();

    // when another thread puts meanwhile
    var putting = new CountDownLatch(1);
    var putter = async(() -> {
      putting.countDown();
      queue.put(at("y", 1));
      order.add("put");
    });
    putting.await();
    go.countDown();
    popper.get(120, TimeUnit.SECONDS);
    putter.get(120, TimeUnit.SECONDS);

    // then it returns after the processing, which never saw it
    assertThat(order).containsExactly("processed", "put");
  }

  @Test
  void takesNothingMore_onceItIsClosed() {
    queue.put(at("x", 1));

    queue.close();
    queue.put(at("y", 1));

    assertThat(popAll()).containsExactly("x: added 1");
  }

  @Test
  @DisplayName("puts back what could not be done")
  void putsBackWhatCouldNotBeDone() {
    queue.put(at("x", 1));
    queue.put(at("x", 2));

    var popped = queue.pop((_, deltas) -> deltas.subList(1, 2));

    assertThat(popped).isEqualTo(Popped.PUT_BACK);
    assertThat(popAll()).containsExactly("x: updated 2");
  }

  @Test
  @DisplayName("does not put back what something newer follows")
  void doesNotPutBack_whenANewerDeltaIsPending() {
    queue.put(at("x", 1));

    // when it cannot be done, and an update came meanwhile
    queue.pop((_, deltas) -> {
      queue.put(at("x", 2));
      return deltas;
    });

    assertThat(popAll()).containsExactly("x: added 2");
  }

  @Test
  @DisplayName("loses what throws, and nothing else")
  void goesOnAfterAProcessThatThrows() {
    queue.replace(all("x@1", "y@1"));

    assertThatThrownBy(() -> queue.pop((_, _) -> {
      throw new IllegalStateException("on purpose");
    })).hasMessage("on purpose");

    assertThat(popAll()).containsExactly("y: replaced 1");
    assertThat(queue.hasSynced()).isTrue();
  }

  @Test
  @DisplayName("is synced once every key of the first list was processed")
  void isSyncedAfterTheFirstList() {
    var synced = new ArrayList<Boolean>();
    synced.add(queue.hasSynced());
    queue.replace(all("x@1", "y@1", "z@1"));

    for (int i = 0; i < 3; i++) {
      synced.add(queue.hasSynced());
      queue.pop((_, _) -> List.of());
    }
    synced.add(queue.hasSynced());

    assertThat(synced).containsExactly(false, false, false, false, true);
  }

  @Test
  @DisplayName("is synced by an empty list, and wakes who waits for that")
  void isSyncedByAnEmptyList() {
    queue.replace(List.of());

    assertThat(queue.hasSynced()).isTrue();
    assertThat(wakes).isEqualTo(1);
  }

  @Test
  @DisplayName("is synced by a change that comes before any list")
  void isSyncedByAChange() {
    queue.put(at("x", 1));

    assertThat(queue.hasSynced()).isTrue();
  }

  @Test
  @DisplayName("counts what was put back as not yet done")
  void waitsForWhatWasPutBack() {
    queue.replace(all("x@1"));

    queue.pop((_, deltas) -> deltas);
    assertThat(queue.hasSynced()).isFalse();
    queue.pop((_, _) -> List.of());

    assertThat(queue.hasSynced()).isTrue();
  }

  @Test
  void wakesOnceForAsMuchAsComesBeforeItIsEmptied() {
    queue.put(at("x", 1));
    queue.put(at("y", 1));
    popAll();
    queue.put(at("x", 2));

    assertThat(wakes).isEqualTo(2);
  }

  @Test
  void takesAKeyThatWasDeletedForNewWhenItComesBack() {
    store.put(at("x", 1));
    queue.remove(at("x", 2));
    queue.put(at("x", 3));
    queue.put(at("x", 4));

    assertThat(popAll()).containsExactly("x: deleted 2, added 3, updated 4");
  }

  private List<String> popAll() {
    var all = new ArrayList<String>();
    while (queue.pop((key, deltas) -> {
      all.add(key + ": " + String.join(", ", deltas.stream().map(DeltaQueueTest::said).toList()));
      return List.of();
    }) == Popped.PROCESSED) {
    }
    return all;
  }

  private static String said(Delta<String> delta) {
    return delta.type().name().toLowerCase(Locale.ROOT) + " " + delta.object().resourceVersion();
  }

  private static CompletableFuture<Void> async(Runnable task) {
    var done = new CompletableFuture<Void>();
    Thread.ofPlatform().daemon().start(() -> {
      try {
        task.run();
        done.complete(null);
      } catch (RuntimeException | Error failure) {
        done.completeExceptionally(failure);
      }
    });
    return done;
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }
}
