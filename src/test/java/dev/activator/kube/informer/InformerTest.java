package dev.activator.kube.informer;

import static dev.activator.kube.informer.Seen.again;
import static dev.activator.kube.informer.Seen.all;
import static dev.activator.kube.informer.Seen.at;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.loop.Loop;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class InformerTest {
  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final Informer<String> informer = new Informer<>("things", loop, Duration.ZERO,
      (_, seen) -> seen);
  private final ReflectorStore<String> sink = informer.sink();
  private final List<String> received = new ArrayList<>();

  @BeforeEach
  void start() {
    informer.start();
  }

  @Test
  @DisplayName("counts deletions that no watch reported")
  void countsDeletionsThatNoWatchReported() {
    listen();
    listed("a@1", "b@1", "c@1");
    sink.remove(at("a", 2));

    listed("c@1");

    assertThat(received).endsWith("delete a@2", "lost b@1");
    assertThat(informer.view().missedDeletions()).isEqualTo(1);
  }

  @Test
  @DisplayName("reports a deletion once, however often it is seen")
  void reportsADeletionOnce() {
    listen();
    put(at("x", 1));

    sink.remove(at("x", 2));
    loop.run();
    sink.remove(at("x", 3));
    loop.run();

    assertThat(received).containsExactly("add x@1", "delete x@2");
  }

  @Test
  void leavesNoTimerBehindWhenItIsClosed() {
    var resynced = new Informer<String>("others", loop, ofSeconds(600), (_, seen) -> seen);
    resynced.start();
    loop.run();

    resynced.close();
    loop.run();

    assertThat(loop.pending()).isZero();
  }

  @Test
  @DisplayName("does not report the deletion of something unknown")
  void ignoresTheDeletionOfSomethingUnknown() {
    listen();

    sink.remove(at("x", 1));
    loop.run();

    assertThat(received).isEmpty();
  }

  @Test
  @DisplayName("reports of a list only what is new, what changed and what is missing")
  void reportsTheDifferenceAListMakes() {
    listed("a@1", "b@1", "c@1");
    listen();
    received.clear();

    listed("a@1", "b@5", "d@6");

    assertThat(received).containsExactly("update b@1 to 5", "add d@6", "lost c@1");
  }

  @Test
  @DisplayName("believes the store rather than the name of the event")
  void reportsAddOrUpdate_byWhatIsStored() {
    listen();

    put(at("x", 9));
    put(at("x", 10));

    assertThat(received).containsExactly("add x@9", "update x@9 to 10");
  }

  @Test
  @DisplayName("has stored what it reports")
  void storesBeforeItNotifies() {
    var read = new ArrayList<String>();
    informer.addHandler(
        change -> read.add(change.key() + " " + informer.store().find(change.key())),
        InformerHandlerOptions.on(loop, "reader"));

    put(at("x", 1));
    sink.remove(at("x", 2));
    loop.run();

    assertThat(read).containsExactly("x " + at("x", 1), "x null");
  }

  @Test
  @DisplayName("reports the same to every handler, in the same order")
  void notifiesAllHandlersOfTheSame() {
    var others = new ArrayList<String>();
    listen();
    informer.addHandler(change -> others.add(Seen.said(change)),
        InformerHandlerOptions.on(loop, "other"));

    listed("a@1", "b@1");
    put(at("b", 2));
    sink.remove(at("a", 3));
    loop.run();

    assertThat(received).containsExactly("add a@1", "add b@1", "update b@1 to 2", "delete a@3")
        .isEqualTo(others);
  }

  @Test
  @DisplayName("reports a deletion that a list reveals once, with its last known state")
  void reportsADeletionThatNoWatchSaw() {
    listed("x@1");
    listen();
    received.clear();

    listed();
    listed();

    assertThat(received).containsExactly("lost x@1");
  }

  @Test
  @DisplayName("reports an object that was replaced by another of its name as one update")
  void reportsAnotherIncarnationAsAnUpdate() {
    sink.replace(List.of(again("x", 1, 1)));
    loop.run();
    var updates = new ArrayList<InformerNotification<String>>();
    informer.addHandler(updates::add, InformerHandlerOptions.on(loop, "listener"));
    loop.run();
    updates.clear();

    sink.replace(List.of(again("x", 2, 5)));
    loop.run();

    assertThat(updates)
        .containsExactly(new InformerNotification.Updated<>(again("x", 1, 1), again("x", 2, 5)));
  }

  @Test
  @DisplayName("refuses a start after the end, and a second end changes nothing")
  void isOverOnceClosed() {
    informer.close();
    informer.close();

    assertThatThrownBy(informer::start).isInstanceOf(IllegalStateException.class)
        .hasMessage("things cannot be started: it is CLOSED");
    assertThatThrownBy(this::listen).isInstanceOf(IllegalStateException.class)
        .hasMessage("Handler listener cannot be added: things is closed");
  }

  @Test
  @DisplayName("forgets what was still to be reported")
  void startsNoCallAfterTheEnd() {
    listen();
    sink.put(at("x", 1));
    informer.close();
    loop.advance(ofSeconds(10));

    assertThat(received).isEmpty();
  }

  @Test
  @DisplayName("tries again what there was no memory to store, and loses nothing by it")
  void triesAgainWhatThereWasNoMemoryFor() {
    var calls = new AtomicInteger();
    informer.store().addIndex("hungry", now -> {
      if (now.key().equals("x") && calls.incrementAndGet() == 1) {
        throw new OutOfMemoryError("on purpose");
      }
      return List.of("any");
    });
    listen();

    // given that it fails once, and that the world goes on
    listed("x@1", "y@1");
    assertThat(informer.store().find("x")).isNull();
    assertThat(informer.hasSynced()).isFalse();
    put(at("x", 2));
    loop.advance(ofSeconds(1));

    assertThat(received).containsExactly("add y@1", "add x@2");
    assertThat(informer.hasSynced()).isTrue();
    assertThat(informer.view().failures()).isEqualTo(1);
  }

  @Test
  void resyncsEachHandlerInItsOwnPeriod_afterOneHadNoMemory() {
    var full = new AtomicBoolean();
    var handlers = new Loop() {
      @Override
      public void execute(Runnable task) {
        loop.execute(task);
      }

      @Override
      public Timer schedule(Duration delay, Runnable task) {
        return loop.schedule(delay, task);
      }

      @Override
      public long nanoTime() {
        if (full.getAndSet(false)) {
          throw new OutOfMemoryError("on purpose");
        }
        return loop.nanoTime();
      }
    };
    var things = new Informer<String>("others", loop, ofSeconds(10), (_, seen) -> seen);
    var often = new ArrayList<String>();
    var never = new ArrayList<String>();
    things.addHandler(change -> often.add(change.key()),
        new InformerHandlerOptions("often", handlers, true));
    things.addHandler(change -> never.add(change.key()),
        InformerHandlerOptions.on(loop, "never"));
    things.start();
    things.sink().replace(List.of(at("x", 1)));
    loop.run();

    full.set(true);
    loop.advance(ofSeconds(65));

    assertThat(things.view().failures()).isEqualTo(1);
    // The first, and those of each 10 s; one of them was tried twice.
    assertThat(often).hasSize(1 + 6);
    assertThat(never).hasSize(1);
    things.close();
  }

  @Test
  @DisplayName("keeps the watch of an object whose index function throws")
  void outlivesAnIndexFunctionThatThrows() {
    informer.store().addIndex("picky", _ -> {
      throw new IllegalStateException("on purpose");
    });
    listen();

    put(at("x", 1));
    put(at("x", 2));

    assertThat(received).containsExactly("add x@1", "update x@1 to 2");
  }

  @Test
  void keepsWhatIsPutBeforeTheStart() {
    var early = new Informer<String>("early", loop, Duration.ZERO,
        (_, seen) -> seen);
    early.sink().replace(all("x@1"));
    early.addHandler(change -> received.add(Seen.said(change)),
        InformerHandlerOptions.on(loop, "early"));
    loop.run();
    assertThat(received).isEmpty();
    assertThat(early.hasSynced()).isFalse();

    early.start();
    loop.run();

    assertThat(received).containsExactly("add x@1");
    assertThat(early.hasSynced()).isTrue();
  }

  @Test
  void isSyncedOnceTheFirstListIsStored() {
    var synced = informer.synced();
    sink.replace(all("x@1"));
    assertThat(synced).isNotDone();

    loop.run();

    assertThat(synced).isCompleted();
    assertThat(informer.hasSynced()).isTrue();
  }

  @Test
  void isSyncedByAnEmptyList() {
    listed();

    assertThat(informer.hasSynced()).isTrue();
  }

  private InformerHandlerRegistration listen() {
    var registration = informer.addHandler(change -> received.add(Seen.said(change)),
        InformerHandlerOptions.on(loop, "listener"));
    loop.run();
    return registration;
  }

  private void put(VersionedObject<String> now) {
    sink.put(now);
    loop.run();
  }

  private void listed(String... keyAtVersion) {
    sink.replace(all(keyAtVersion));
    loop.run();
  }
}
