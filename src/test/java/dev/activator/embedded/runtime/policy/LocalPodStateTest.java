package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.runtime.policy.LocalPodState.Effect;
import dev.activator.embedded.runtime.policy.LocalPodState.Event;
import dev.activator.testing.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalPodStateTest {
  private static final ExitReason FAILED = ExitReason.code("hello-00001", 1, "no");

  private LocalPodState state = LocalPodState.initial();
  private List<Effect> effects = List.of();

  @Test
  void isListedFromTheBeginningAndReadyWhenItsProcessIs() {
    assertThat(view()).isEqualTo(new LocalPodState.View("pod", 7, false, true, 0));

    on(new Event.Ready(1));
    assertThat(effects).containsExactly(new Effect.Publish(), new Effect.ReportReady(),
        new Effect.SettleAfter(1, Duration.ofSeconds(10)));
    assertThat(view()).isEqualTo(new LocalPodState.View("pod", 7, true, true, 0));
  }

  @Test
  void isNotReadyWhileItsProcessSaysSo() {
    on(new Event.Ready(1));

    on(new Event.NotReady(1));
    assertThat(effects).containsExactly(new Effect.Publish());
    assertThat(view()).isEqualTo(new LocalPodState.View("pod", 7, false, true, 0));

    on(new Event.NotReady(1));
    assertThat(effects).isEmpty();
    on(new Event.Ready(1));
    assertThat(view().ready()).isTrue();
    // Such as the first probe of a process that goes on after it was frozen.
    on(new Event.Ready(1));
    assertThat(effects).isEmpty();
  }

  @Test
  void isStartedAgainAfterItsProcessEnded() {
    on(new Event.Ready(1));

    on(exited(1));
    assertThat(effects).containsExactly(new Effect.RestartAfter(1, Duration.ofSeconds(1)),
        new Effect.ReportRestart(FAILED), new Effect.Publish());
    assertThat(view().ready()).isFalse();

    on(new Event.PauseOver(1));
    assertThat(effects).containsExactly(new Effect.StartProcess(2), new Effect.Publish());
  }

  @Test
  void aProcessToWhichTheActivatorSentRequests_isRestarting_thoughTheContainersProbeHasNotPassed() {
    on(new Event.SentTo(1));
    on(exited(1));
    assertThat(effects).contains(new Effect.ReportRestart(FAILED));

    on(new Event.PauseOver(1));
    on(new Event.SentTo(2));
    on(exited(2));
    assertThat(effects).contains(new Effect.ReportRestart(FAILED));
  }

  @Test
  void isListedOnlyWhileItsProcessRuns() {
    assertThat(state.isListed()).isTrue();

    on(exited(1));
    assertThat(state.isListed()).isFalse();
    assertThat(view().wanted()).isTrue();

    on(new Event.PauseOver(1));
    assertThat(state.isListed()).isTrue();

    on(new Event.Stop());
    assertThat(state.isListed()).isFalse();
  }

  @Test
  void aRunThatWasNeverReadyHasFailed() {
    on(exited(1));
    assertThat(effects).contains(new Effect.ReportFailure(FAILED));
  }

  @Test
  void aProcessThatServedIsRestarting_unlessItEndsSoonAgainAndAgain() {
    for (int run = 1; run <= 2; run++) {
      on(new Event.Ready(run));
      on(new Event.NotReady(run));
      on(exited(run));
      assertThat(effects).contains(new Effect.ReportRestart(FAILED));
      on(new Event.PauseOver(run));
    }
    on(new Event.Ready(3));
    on(exited(3));
    assertThat(effects).contains(new Effect.ReportFailure(FAILED));

    on(new Event.PauseOver(3));
    on(new Event.Ready(4));
    on(new Event.Settled(4));
    on(exited(4));
    assertThat(effects).contains(new Effect.ReportRestart(FAILED));
  }

  @Test
  void isOverdueOnlyIfItIsNotReadyAtItsDeadline() {
    on(new Event.DeadlinePassed());
    assertThat(effects).containsExactly(new Effect.ReportOverdue(), new Effect.Publish());

    on(exited(1));
    on(new Event.DeadlinePassed());
    assertThat(effects).containsExactly(new Effect.ReportOverdue(), new Effect.Publish());

    on(new Event.PauseOver(1));
    on(new Event.Ready(2));
    on(new Event.DeadlinePassed());
    assertThat(effects).isEmpty();

    on(new Event.Stop());
    on(new Event.DeadlinePassed());
    assertThat(effects).isEmpty();
  }

  @Test
  void anAnswerForTheRunBeforeDoesNotMakeItReady() {
    on(exited(1));
    on(new Event.PauseOver(1));

    on(new Event.Ready(1));

    assertThat(view().ready()).isFalse();
  }

  @Test
  void waitsLongerWithEachFailureUntilItHasBeenReadyForAWhile() {
    on(exited(1));
    on(new Event.PauseOver(1));
    on(exited(2));
    assertThat(effects).contains(new Effect.RestartAfter(2, Duration.ofSeconds(2)));

    on(new Event.PauseOver(2));
    on(new Event.Ready(3));
    on(new Event.Settled(3));
    on(exited(3));
    assertThat(effects).contains(new Effect.RestartAfter(3, Duration.ofSeconds(1)));
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "1, 2", "2, 4", "4, 16", "5, 30", "1000, 30"})
  void pausesGrowUpToHalfAMinute(int failures, int seconds) {
    assertThat(LocalPodState.pauseAfter(failures)).isEqualTo(Duration.ofSeconds(seconds));
  }

  @Test
  void drainsAlsoWhereItIsNotReadyAsTheActivatorMayHaveFoundItReady() {
    on(new Event.Stop());

    assertThat(effects).containsExactly(new Effect.Publish(), new Effect.Drain());
  }

  @Test
  void leavesTheListBeforeItDrainsAndDrainsBeforeItsProcessIsStopped() {
    on(new Event.Ready(1));

    on(new Event.Stop());
    assertThat(effects).containsExactly(new Effect.Publish(), new Effect.Drain());
    assertThat(view()).isEqualTo(new LocalPodState.View("pod", 7, false, false, 0));

    on(new Event.Drained());
    assertThat(effects).containsExactly(new Effect.StopProcess());

    on(new Event.Exited(1, ExitReason.code("hello-00001", 143, "")));
    assertThat(effects).containsExactly(new Effect.Remove());
  }

  @Test
  void aPodThatWaitsToBeStartedAgainIsGoneAtOnce() {
    on(exited(1));

    on(new Event.Stop());

    assertThat(effects).containsExactly(new Effect.Publish(), new Effect.Remove());
    on(new Event.PauseOver(1));
    assertThat(effects).isEmpty();
  }

  @Test
  void aPodWhoseProcessEndsWhileItDrainsIsGone() {
    on(new Event.Stop());

    on(exited(2));
    assertThat(effects).isEmpty();
    on(exited(1));
    assertThat(effects).containsExactly(new Effect.Remove());
    assertThat(state).isEqualTo(new LocalPodState.Gone());
  }

  @Test
  void countsItsRestartsWhateverItsState() {
    on(exited(1));
    assertThat(view()).isEqualTo(new LocalPodState.View("pod", 7, false, true, 0));

    on(new Event.PauseOver(1));
    on(new Event.Stop());
    on(new Event.Drained());
  }

  /** What surrounds a pod: does what it is told, in any order and at any time. */
  private static final class World {
    final List<Event> coming = new ArrayList<>();
    final Random random;
    int running = 1;
    int removed;
    boolean published;

    World(Random random) {
      this.random = random;
      probe(1);
    }

    void perform(Effect effect) {
      switch (effect) {
        case Effect.StartProcess(var run) -> {
          assertThat(running).as("the run before has ended").isZero();
          running = run;
          probe(run);
        }
        case Effect.SettleAfter(var run, var pause) -> coming.add(new Event.Settled(run));
        case Effect.RestartAfter(var run, var pause) -> coming.add(new Event.PauseOver(run));
        case Effect.Drain() -> coming.add(new Event.Drained());
        case Effect.StopProcess() -> exit();
        case Effect.Remove() -> removed++;
        case Effect.Publish() -> published = true;
        case Effect.ReportFailure(var exit) -> {
        }
        case Effect.ReportReady() -> {
        }
        case Effect.ReportOverdue() -> {
        }
        case Effect.ReportRestart(var exit) -> {
        }
      }
    }

    void probe(int run) {
      if (random.nextBoolean()) {
        coming.add(new Event.Ready(run));
      }
    }

    void exit() {
      if (running > 0) {
        coming.add(exited(running));
        running = 0;
      }
    }

    Event next() {
      return coming.remove(random.nextInt(coming.size()));
    }
  }

  @Test
  void endsWithoutAProcessAndIsNeverListedOnceStopped() {
    Seeds
        .each(seed -> new LocalPodStateTest().endsWithoutAProcessAndIsNeverListedOnceStopped(seed));
  }

  private void endsWithoutAProcessAndIsNeverListedOnceStopped(long seed) {
    var random = new Random(seed);
    var world = new World(random);
    int stopAt = random.nextInt(60);
    for (int i = 0; i < stopAt; i++) {
      if (random.nextInt(8) == 0 || world.coming.isEmpty()) {
        world.exit();
      }
      step(world, world.next());
      assertThat(view().wanted()).isTrue();
    }

    step(world, new Event.Stop());
    for (int i = 0; i < 1_000 && !world.coming.isEmpty(); i++) {
      assertThat(view()).returns(false, LocalPodState.View::wanted).returns(false,
          LocalPodState.View::ready);
      step(world, world.next());
    }

    assertThat(world.coming).isEmpty();
    assertThat(state).isEqualTo(new LocalPodState.Gone());
    assertThat(world.running).isZero();
    assertThat(world.removed).isEqualTo(1);
  }

  private void step(World world, Event event) {
    var before = view();
    world.published = false;
    on(event);
    effects.forEach(world::perform);
    boolean looksDifferent = before.wanted() != view().wanted() || before.ready() != view().ready();
    assertThat(world.published || !looksDifferent).as("a change is published").isTrue();
  }

  private void on(Event event) {
    var step = state.on(event);
    state = step.next();
    effects = step.effects();
  }

  private LocalPodState.View view() {
    return state.view("pod", 7, 0);
  }

  private static Event exited(int run) {
    return new Event.Exited(run, FAILED);
  }
}
