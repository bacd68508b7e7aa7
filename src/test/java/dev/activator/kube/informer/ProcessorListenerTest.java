package dev.activator.kube.informer;

import dev.activator.kube.informer.Informer.InformerStatus;
import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.kube.informer.Informer.InformerStatus.ListenerView;
import static dev.activator.kube.informer.Seen.all;
import static dev.activator.kube.informer.Seen.at;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.Loop;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What listeners of an informer are told, in virtual time. */
class ProcessorListenerTest {
  private static final Duration CHECK = ofSeconds(10);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final VirtualLoop own = VirtualLoop.nearOverflow();
  private final Informer<String> informer = new Informer<>("things", loop, CHECK,
      (_, seen) -> seen);
  private final ReflectorStore<String> sink = informer.sink();
  private final List<String> received = new ArrayList<>();

  @Test
  @DisplayName("skips what a handler fails on, waits a second, and disturbs no other handler")
  void goesOnASecondAfterAFailure() {
    informer.start();
    var calls = new ArrayList<String>();
    var failing = informer.addHandler(change -> {
      calls.add(loop.elapsed().toSeconds() + "s " + change.key());
      switch (change.key()) {
        case "x" -> throw new AssertionError("on purpose");
        case "y" -> throw new IllegalStateException("on purpose");
        default -> {
        }
      }
    }, InformerHandlerOptions.on(loop, "failing"));
    listen(InformerHandlerOptions.on(loop, "healthy"));

    listed("x@1", "y@1", "z@1");

    assertThat(received).containsExactly("add x@1", "add y@1", "add z@1");
    assertThat(calls).containsExactly("0s x");
    assertThat(failing.hasSynced()).isFalse();
    loop.advance(ofSeconds(10));
    assertThat(calls).containsExactly("0s x", "1s y", "2s z");
    assertThat(failing.hasSynced()).isTrue();
  }

  @Test
  @DisplayName("has synced even if the last of the first objects was not taken")
  void isSyncedEvenIfTheLastCallFails() {
    informer.start();
    var failing = informer.addHandler(_ -> {
      throw new IllegalStateException("on purpose");
    }, InformerHandlerOptions.on(loop, "failing"));
    loop.run();
    sink.replace(all("x@1"));
    sink.put(at("later", 2));

    loop.run();

    assertThat(failing.synced()).isCompleted();
    assertThat(failing.view().pending()).isEqualTo(1);
  }

  @Test
  @DisplayName("has synced after the call for the last of the first objects")
  void isSyncedOnceItHasHandledTheInitialObjects() {
    informer.start();
    var registration = listen(InformerHandlerOptions.on(own, "slow"));
    var synced = registration.synced();

    listed("x@1", "y@1");
    assertThat(informer.hasSynced()).isTrue();
    assertThat(registration.hasSynced()).isFalse();
    own.run();

    assertThat(received).hasSize(2);
    assertThat(registration.hasSynced()).isTrue();
    assertThat(synced).isCompleted();
  }

  @Test
  @DisplayName("has not synced before the informer has, and then at once if there is nothing")
  void waitsForTheFirstList() {
    informer.start();
    var registration = listen(InformerHandlerOptions.on(loop, "listener"));
    assertThat(registration.hasSynced()).isFalse();

    listed();

    assertThat(registration.hasSynced()).isTrue();
  }

  @Test
  @DisplayName("sends a late handler what exists, and then every change")
  void catchesALateHandlerUp() {
    informer.start();
    listed("x@1", "y@1");
    sink.put(at("x", 2));

    // when it comes while one change waits to be stored, and another follows
    var registration = listen(InformerHandlerOptions.on(loop, "late"));
    loop.run();
    sink.remove(at("y", 3));
    loop.run();

    assertThat(received).containsExactly("add x@2", "add y@1", "delete y@3");
    assertThat(registration.hasSynced()).isTrue();
  }

  @Test
  @DisplayName("does not call a handler that was removed, and removing it again is harmless")
  void callsNoRemovedHandler() {
    informer.start();
    var registration = listen(InformerHandlerOptions.on(own, "removed"));
    listed("x@1");

    registration.close();
    registration.close();
    for (int version = 2; version < 1002; version++) {
      sink.put(at("x", version));
    }
    loop.run();
    own.run();

    assertThat(received).isEmpty();
    assertThat(registration.synced()).isCompletedExceptionally();
    assertThat(registration.hasSynced()).isFalse();
    assertThat(informer.view().listeners()).isEmpty();
  }

  @Test
  void canBeRemovedByItsOwnCall() {
    informer.start();
    var self = new InformerHandlerRegistration[1];
    self[0] = informer.addHandler(change -> {
      received.add(Seen.said(change));
      self[0].close();
    }, InformerHandlerOptions.on(loop, "once"));

    listed("x@1", "y@1");

    assertThat(received).containsExactly("add x@1");
  }

  @Test
  void resyncsInEachPeriod() {
    listen(new InformerHandlerOptions("listener", loop, true));
    informer.start();
    listed("x@1");
    received.clear();

    loop.advance(CHECK.multipliedBy(3));

    assertThat(received).hasSize(3).containsOnly("update x@1 to 1");
  }

  @Test
  @DisplayName("resyncs no other listener")
  void resyncsNoOtherListener() {
    listen(InformerHandlerOptions.on(loop, "listener"));
    informer.start();
    listed("x@1");

    loop.advance(ofSeconds(60));

    assertThat(received).containsExactly("add x@1");
  }

  @Test
  @DisplayName("does not go back to an older state when a resync and a change coincide")
  void resyncsNothingThatIsAboutToChange() {
    informer.start();
    listen(new InformerHandlerOptions("listener", loop, true));
    listed("x@1", "y@1");
    received.clear();

    // given a change that is put just before the resync
    loop.schedule(CHECK, () -> sink.put(at("x", 2)));
    loop.advance(CHECK);
    sink.put(at("x", 2));
    loop.advance(CHECK);

    assertThat(received.stream().filter(text -> text.contains("x@")))
        .containsExactly("update x@1 to 2", "update x@2 to 2");
  }

  @Test
  @DisplayName("sends a slow listener only the latest of each key, if it wants that")
  void reportsTheLatestOfEachKey() {
    informer.start();
    var registration = listen(InformerHandlerOptions.on(own, "slow"));
    listed("x@1", "y@1");
    own.run();
    received.clear();

    // given many changes while it is busy elsewhere
    for (int version = 2; version <= 1000; version++) {
      sink.put(at("x", version));
      sink.put(at("new", version));
    }
    sink.remove(at("new", 1001));
    sink.remove(at("y", 1001));
    sink.put(at("y", 1002));
    loop.run();
    assertThat(registration.view().pending()).isEqualTo(2);
    own.run();

    assertThat(received).containsExactly("update x@1 to 1000", "update y@1 to 1002");
  }

  @Test
  void hasSyncedAlthoughWhatWasThereIsGone() {
    informer.start();
    var registration = listen(InformerHandlerOptions.on(own, "slow"));
    listed("x@1");
    sink.remove(at("x", 2));
    loop.run();

    own.run();

    assertThat(received).isEmpty();
    assertThat(registration.hasSynced()).isTrue();
  }

  @Test
  void showsHowFarBehindItIs() {
    informer.start();
    var registration = listen(InformerHandlerOptions.on(own, "slow"));
    listed("x@1", "y@1");
    assertThat(registration.view())
        .isEqualTo(new ListenerView("slow", 2, ZERO, false));

    own.run();

    assertThat(registration.view())
        .isEqualTo(new ListenerView("slow", 0, ZERO, true));
    assertThat(informer.view())
        .isEqualTo(new InformerStatus("things", 2, 0, true, 0, 0, List.of(registration.view())));
  }

  @Test
  void showsHowLongTheOldestWaits() {
    informer.start();
    var registration = informer.addHandler(_ -> {
      throw new IllegalStateException("on purpose");
    }, InformerHandlerOptions.on(loop, "failing"));
    listed("x@1", "y@1");

    loop.advance(ofMillis(700));

    assertThat(registration.view().oldest()).isEqualTo(ofMillis(700));
  }

  @Test
  void endsAListenerWhoseLoopHasEndedAndNoOther() {
    informer.start();
    var ended = informer.addHandler(_ -> {
    }, InformerHandlerOptions.on(new EndedLoop(), "ended"));
    listen(InformerHandlerOptions.on(loop, "listener"));

    listed("x@1");

    assertThat(received).containsExactly("add x@1");
    assertThat(ended.synced()).isCompletedExceptionally();
    assertThat(informer.view().failures()).isZero();
  }

  private InformerHandlerRegistration listen(InformerHandlerOptions listening) {
    return informer.addHandler(change -> received.add(Seen.said(change)), listening);
  }

  private void listed(String... keyAtVersion) {
    sink.replace(all(keyAtVersion));
    loop.run();
  }

  /** As Netty's is after it was shut down. */
  private static final class EndedLoop implements Loop {
    @Override
    public void execute(Runnable task) {
      throw new RejectedExecutionException("event executor terminated");
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      throw new RejectedExecutionException("event executor terminated");
    }

    @Override
    public long nanoTime() {
      return 0;
    }
  }
}
