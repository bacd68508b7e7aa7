package dev.activator.kube.informer;

import static dev.activator.kube.informer.Seen.at;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.loop.ThreadLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads that get in each other's way. */
class InformerStressTest {
  private static final Duration LIMIT = Duration.ofSeconds(120);

  private final List<ThreadLoop> loops = new ArrayList<>();
  private final Informer<String> informer = new Informer<>("things", loop("informer"),
      Duration.ZERO,
      (_, seen) -> seen);
  /** One that has had no list yet. */
  private final Informer<String> listed = new Informer<>("listed", loop("listed"), Duration.ZERO,
      (_, seen) -> seen);
  private final ReflectorStore<String> sink = informer.sink();
  private final Queue<Throwable> lies = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void start() {
    informer.start();
    sink.replace(List.of());
  }

  @AfterEach
  void stop() {
    informer.close();
    listed.close();
    loops.forEach(ThreadLoop::close);
  }

  @Test
  @DisplayName("stores at least what it reports")
  void storesBeforeItNotifies() {
    var seen = new CompletableFuture<Void>();
    informer.addHandler(checked(change -> {
      var stored = informer.store().find(change.key());
      if (change instanceof InformerNotification.Added<String>(var now)) {
        assertThat(stored == null ? 10_001 : version(stored)).isGreaterThanOrEqualTo(version(now));
      }
      if (change instanceof InformerNotification.Updated<String>(_, var now)) {
        assertThat(stored == null ? 10_001 : version(stored)).isGreaterThanOrEqualTo(version(now));
      }
      if (change.key().equals("last")) {
        seen.complete(null);
      }
    }), InformerHandlerOptions.on(loop("reader"), "reader"));

    var random = new Random(1);
    for (int version = 1; version <= 10_000; version++) {
      var now = at("k" + random.nextInt(20), version);
      if (random.nextInt(4) == 0) {
        sink.remove(now);
      } else {
        sink.put(now);
      }
    }
    sink.put(at("last", 10_001));

    await(seen);
    assertThat(lies).isEmpty();
  }

  @Test
  @DisplayName("a stuck listener delays no other, and its backlog is shown")
  void aStuckListenerDelaysNoOther() {
    var stuck = new CountDownLatch(1);
    var go = new CountDownLatch(1);
    var last = new CompletableFuture<Void>();
    var a = informer.addHandler(_ -> {
      stuck.countDown();
      await(go);
    }, InformerHandlerOptions.on(loop("a"), "a"));
    var b = informer.addHandler(change -> {
      if (change.key().equals("k9999")) {
        last.complete(null);
      }
    }, InformerHandlerOptions.on(loop("b"), "b"));
    sink.put(at("k0", 1));
    await(stuck);

    for (int i = 1; i < 10_000; i++) {
      sink.put(at("k" + i, 1 + i));
    }
    await(last);

    assertThat(a.view().pending()).isEqualTo(9_999);
    assertThat(b.view().pending()).isZero();
    assertThat(informer.store().size()).isEqualTo(10_000);
    go.countDown();
  }

  @Test
  @Tag("burst")
  @DisplayName("holds no more than the latest of each key for a listener that wants that")
  void aStuckListenerOfTheLatestHoldsOneChangeAKey() {
    var stuck = new CountDownLatch(1);
    var go = new CountDownLatch(1);
    var witness = new Witness(Witness.Repeats.WRONG);
    var last = new CompletableFuture<Void>();
    var a = informer.addHandler(checked(change -> {
      stuck.countDown();
      await(go);
      witness.on(change);
      if (change.key().equals("last")) {
        last.complete(null);
      }
    }), InformerHandlerOptions.on(loop("a"), "a"));
    sink.put(at("x", 1));
    await(stuck);

    for (int version = 2; version <= 10_000; version++) {
      sink.put(at("x", version));
      sink.put(at("k" + version % 50, version));
    }
    sink.put(at("last", 10_001));
    awaitStored("last");
    assertThat(a.view().pending()).isLessThanOrEqualTo(52);
    go.countDown();
    await(last);

    assertThat(lies).isEmpty();
    assertThat(witness.there().values())
        .containsExactlyInAnyOrderElementsOf(informer.store().all());
  }

  @Test
  @DisplayName("has synced when the call for the third of three objects returned, not earlier")
  void isSyncedOnceTheCallsHaveReturned() throws Exception {
    var entered = new SynchronousQueue<String>();
    var leave = new Semaphore(0);
    var slow = listed.addHandler(change -> {
      try {
        entered.put(change.key());
        leave.acquire();
      } catch (InterruptedException interrupted) {
        lies.add(interrupted);
      }
    }, InformerHandlerOptions.on(loop("slow"), "slow"));
    listed.start();
    listed.sink().replace(Seen.all("x@1", "y@1", "z@1"));
    await(listed.synced());

    for (int i = 0; i < 3; i++) {
      entered.take();
      assertThat(slow.hasSynced()).isFalse();
      leave.release();
    }
    await(slow.synced());

    assertThat(slow.hasSynced()).isTrue();
  }

  @Test
  @Tag("burst")
  @DisplayName("catches up a thousand handlers while the world changes, without loss or double")
  void catchesUpAnyNumberOfHandlers() {
    var writing = new AtomicBoolean(true);
    var writer = async(() -> {
      var random = new Random(2);
      for (int version = 1; writing.get(); version++) {
        var now = at("k" + random.nextInt(20), version);
        if (random.nextInt(4) == 0) {
          sink.remove(now);
        } else {
          sink.put(now);
        }
        if (version % 64 == 0) {
          Thread.yield();
        }
      }
    });
    var shared = List.of(loop("one"), loop("two"));
    var present = new ArrayDeque<InformerHandlerRegistration>();

    for (int i = 0; i < 1000; i++) {
      var listening = InformerHandlerOptions.on(shared.get(i % 2), "listener " + i);
      present.add(informer.addHandler(checked(new Witness(Witness.Repeats.WRONG)),
          i % 3 == 0 ? listening : listening));
      if (present.size() > 5) {
        var oldest = present.remove();
        await(oldest.synced());
        oldest.close();
      }
    }
    writing.set(false);

    await(writer);
    assertThat(lies).isEmpty();
  }

  @Test
  @DisplayName("does not wait for the first call of a handler that comes late")
  void addingDoesNotWaitForTheHandler() {
    sink.put(at("x", 1));
    awaitStored("x");
    var go = new CountDownLatch(1);
    var received = new CompletableFuture<Void>();

    informer.addHandler(_ -> await(go), InformerHandlerOptions.on(loop("stuck"), "stuck"));
    informer.addHandler(_ -> received.complete(null),
        InformerHandlerOptions.on(loop("other"), "other"));

    await(received);
    go.countDown();
  }

  @Test
  @DisplayName("lets a call in progress end when it is closed, and starts none after it")
  void endsTheCallInProgress() {
    var calls = new AtomicInteger();
    var entered = new CountDownLatch(1);
    var go = new CountDownLatch(1);
    var ended = new CompletableFuture<Boolean>();
    var loop = loop("slow");
    informer.addHandler(_ -> {
      calls.incrementAndGet();
      entered.countDown();
      await(go);
      ended.complete(!Thread.currentThread().isInterrupted());
    }, InformerHandlerOptions.on(loop, "slow"));
    sink.put(at("x", 1));
    sink.put(at("y", 1));
    await(entered);

    informer.close();
    informer.close();
    sink.put(at("z", 1));
    go.countDown();

    assertThat(await(ended)).isTrue();
    await(CompletableFuture.runAsync(() -> {
    }, loop));
    assertThat(calls).hasValue(1);
  }

  @Test
  @DisplayName("lets a handler read the store and add and remove others while all changes")
  void handlersMayCallIn() {
    informer.store().addIndex("content", now -> List.of(now.object()));
    var last = new CompletableFuture<Void>();
    var added = new AtomicInteger();
    var loop = loop("curious");
    var curious = informer.addHandler(checked(change -> {
      informer.store().by("content", "content 7");
      if (version(last(change)) % 50 == 0) {
        var other = informer.addHandler(checked(new Witness(Witness.Repeats.WRONG)),
            InformerHandlerOptions.on(loop, "other " + added.incrementAndGet()));
        other.synced().thenRun(other::close);
      }
      if (change.key().equals("last")) {
        last.complete(null);
      }
    }), InformerHandlerOptions.on(loop, "curious"));
    await(curious.synced());

    for (int version = 1; version <= 5_000; version++) {
      // every fiftieth has a key of its own, so that it is told by itself
      sink.put(at("k" + (version % 50 == 0 ? version : version % 10), version));
    }
    sink.put(at("last", 5_001));

    await(last);
    assertThat(added).hasValue(100);
    assertThat(lies).isEmpty();
  }

  @Test
  void waitsUntilAllAreSynced() throws Exception {
    var registration = informer.addHandler(_ -> {
    }, InformerHandlerOptions.on(loop("listener"), "listener"));

    assertThat(Informer.awaitSynced(LIMIT, List.of(informer.synced(), registration.synced())))
        .isTrue();
  }

  @Test
  void stopsWaitingForWhatIsClosed() throws Exception {
    var never = new CompletableFuture<Void>();
    var waiting = async(() -> {
      try {
        assertThat(Informer.awaitSynced(LIMIT.multipliedBy(60), List.of(never, listed.synced())))
            .isFalse();
      } catch (InterruptedException interrupted) {
        throw new IllegalStateException(interrupted);
      }
    });

    listed.close();

    await(waiting);
    assertThat(Informer.awaitSynced(Duration.ZERO, List.of(never))).isFalse();
  }

  private ThreadLoop loop(String name) {
    var loop = new ThreadLoop(name);
    loops.add(loop);
    return loop;
  }

  private InformerHandler<String> checked(InformerHandler<String> handler) {
    return change -> {
      try {
        handler.on(change);
      } catch (AssertionError lie) {
        lies.add(lie);
      }
    };
  }

  private void awaitStored(String key) {
    var stored = new CompletableFuture<Void>();
    try (var _ = informer.addHandler(change -> {
      if (change.key().equals(key)) {
        stored.complete(null);
      }
    }, InformerHandlerOptions.on(loop("watch of " + key), "watch of " + key))) {
      await(stored);
    }
  }

  private static VersionedObject<String> last(InformerNotification<String> change) {
    return switch (change) {
      case InformerNotification.Added<String>(var now) -> now;
      case InformerNotification.Updated<String>(_, var now) -> now;
      case InformerNotification.Deleted<String>(_, var last, _) -> last;
    };
  }

  private static int version(VersionedObject<String> sighting) {
    return Integer.parseInt(sighting.resourceVersion());
  }

  private static CompletableFuture<Void> async(Runnable task) {
    return CompletableFuture.runAsync(task, run -> Thread.ofPlatform().daemon().start(run));
  }

  private static <V> V await(CompletableFuture<V> done) {
    return done.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }
}
