package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class PodStateTest {
  private static final Exit FAILED = Exit.code("hello-00001", 1, "no");

  private static final Exit UNHEARD = Exit.cannotRun("hello-00001", "no port");

  private PodState state = PodState.initial();
  private List<PodEffect> effects = List.of();

  @Test
  void isListedWhenItsSidecarListensAndReadyWhenItsProcessIs() {
    on(new PodEvent.Listening(4000));
    assertThat(effects).containsExactly(new PodEffect.Publish(), new PodEffect.Check(1));
    assertThat(view()).isEqualTo(new PodView("pod", 4000, false, true, 0, 7));

    on(new PodEvent.Checked(1, true));
    assertThat(effects).containsExactly(new PodEffect.Publish(), new PodEffect.ReportReady(),
        new PodEffect.SettleAfter(1, Duration.ofSeconds(10)));
    assertThat(view()).isEqualTo(new PodView("pod", 4000, true, true, 0, 7));
  }

  @Test
  void asksAgainWhenTheProcessIsNotReadyInTime() {
    on(new PodEvent.Listening(4000));

    on(new PodEvent.Checked(1, false));

    assertThat(effects).containsExactly(new PodEffect.Check(1));
  }

  @Test
  void isStartedAgainAfterItsProcessEnded() {
    on(new PodEvent.Listening(4000));
    on(new PodEvent.Checked(1, true));

    on(new PodEvent.Exited(1, FAILED));
    assertThat(effects).containsExactly(new PodEffect.Publish(),
        new PodEffect.ReportFailure(FAILED), new PodEffect.RestartAfter(1, Duration.ofSeconds(1)));
    assertThat(view().ready()).isFalse();

    on(new PodEvent.PauseOver(1));
    assertThat(effects).containsExactly(new PodEffect.Publish(), new PodEffect.StartProcess(2),
        new PodEffect.Check(2));
    assertThat(view().restarts()).isEqualTo(1);
  }

  @Test
  void triesAgainToListenAfterPausesThatGrow() {
    on(new PodEvent.CannotListen(UNHEARD));
    assertThat(effects).containsExactly(new PodEffect.ReportFailure(UNHEARD),
        new PodEffect.ListenAfter(Duration.ofSeconds(1)));

    on(new PodEvent.ListenPauseOver());
    assertThat(effects).containsExactly(new PodEffect.Listen());

    on(new PodEvent.CannotListen(UNHEARD));
    assertThat(effects).contains(new PodEffect.ListenAfter(Duration.ofSeconds(2)));

    on(new PodEvent.ListenPauseOver());
    on(new PodEvent.Listening(4000));
    assertThat(effects).containsExactly(new PodEffect.Publish(), new PodEffect.Check(1));
  }

  @Test
  void triesToListenAlsoWhileItsProcessWaits() {
    on(new PodEvent.Exited(1, FAILED));
    on(new PodEvent.CannotListen(UNHEARD));
    on(new PodEvent.ListenPauseOver());
    assertThat(effects).containsExactly(new PodEffect.Listen());

    // but not once it is gone
    on(new PodEvent.CannotListen(UNHEARD));
    on(new PodEvent.Stop());
    on(new PodEvent.ListenPauseOver());
    assertThat(effects).isEmpty();
  }

  @Test
  void anAnswerForTheRunBeforeDoesNotMakeItReady() {
    on(new PodEvent.Listening(4000));
    on(new PodEvent.Exited(1, FAILED));
    on(new PodEvent.PauseOver(1));

    on(new PodEvent.Checked(1, true));

    assertThat(view().ready()).isFalse();
  }

  @Test
  void waitsLongerWithEachFailureUntilItHasBeenReadyForAWhile() {
    on(new PodEvent.Listening(4000));
    on(new PodEvent.Exited(1, FAILED));
    on(new PodEvent.PauseOver(1));
    on(new PodEvent.Exited(2, FAILED));
    assertThat(effects).contains(new PodEffect.RestartAfter(2, Duration.ofSeconds(2)));

    on(new PodEvent.PauseOver(2));
    on(new PodEvent.Checked(3, true));
    on(new PodEvent.Settled(3));
    on(new PodEvent.Exited(3, FAILED));
    assertThat(effects).contains(new PodEffect.RestartAfter(3, Duration.ofSeconds(1)));
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "1, 2", "2, 4", "4, 16", "5, 30", "1000, 30"})
  void pausesGrowUpToHalfAMinute(int failures, int seconds) {
    assertThat(PodState.pauseAfter(failures)).isEqualTo(Duration.ofSeconds(seconds));
  }

  @Test
  void leavesTheListBeforeItDrainsAndDrainsBeforeItsProcessIsStopped() {
    on(new PodEvent.Listening(4000));
    on(new PodEvent.Checked(1, true));

    on(new PodEvent.Stop());
    assertThat(effects).containsExactly(new PodEffect.Publish(), new PodEffect.Drain());
    assertThat(view()).isEqualTo(new PodView("pod", 0, false, false, 0, 7));

    on(new PodEvent.Drained());
    assertThat(effects).containsExactly(new PodEffect.StopProcess());

    on(new PodEvent.Exited(1, Exit.code("hello-00001", 143, "")));
    assertThat(effects).containsExactly(new PodEffect.Remove());
  }

  @Test
  void aPodThatWaitsToBeStartedAgainIsGoneAtOnce() {
    on(new PodEvent.Exited(1, FAILED));

    on(new PodEvent.Stop());

    assertThat(effects).containsExactly(new PodEffect.Publish(), new PodEffect.Remove());
    on(new PodEvent.PauseOver(1));
    assertThat(effects).isEmpty();
  }

  /** What surrounds a pod: does what it is told, in any order and at any time. */
  private static final class World {
    final List<PodEvent> coming = new ArrayList<>();
    final Random random;
    int running = 1;
    int removed;
    boolean published;

    World(Random random) {
      this.random = random;
      perform(new PodEffect.Listen());
    }

    void perform(PodEffect effect) {
      switch (effect) {
        case PodEffect.StartProcess(var run) -> {
          assertThat(running).as("the run before has ended").isZero();
          running = run;
        }
        case PodEffect.Listen() -> coming.add(random.nextBoolean()
            ? new PodEvent.Listening(4000)
            : new PodEvent.CannotListen(UNHEARD));
        case PodEffect.ListenAfter(var pause) -> coming.add(new PodEvent.ListenPauseOver());
        case PodEffect.Check(var run) ->
          coming.add(new PodEvent.Checked(run, random.nextBoolean()));
        case PodEffect.SettleAfter(var run, var pause) -> coming.add(new PodEvent.Settled(run));
        case PodEffect.RestartAfter(var run, var pause) -> coming.add(new PodEvent.PauseOver(run));
        case PodEffect.Drain() -> coming.add(new PodEvent.Drained());
        case PodEffect.StopProcess() -> exit();
        case PodEffect.Remove() -> removed++;
        case PodEffect.Publish() -> published = true;
        case PodEffect.ReportFailure(var exit) -> {
        }
        case PodEffect.ReportReady() -> {
        }
      }
    }

    void exit() {
      if (running > 0) {
        coming.add(new PodEvent.Exited(running, FAILED));
        running = 0;
      }
    }

    PodEvent next() {
      return coming.remove(random.nextInt(coming.size()));
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("dev.activator.testing.Seeds#first300")
  void endsWithoutAProcessAndIsNeverListedOnceStopped(long seed) {
    var random = new Random(seed);
    var world = new World(random);
    int stopAt = random.nextInt(60);
    for (int i = 0; i < stopAt && !world.coming.isEmpty(); i++) {
      if (random.nextInt(8) == 0) {
        world.exit();
      }
      step(world, world.next());
      assertThat(view().wanted()).isTrue();
    }

    step(world, new PodEvent.Stop());
    for (int i = 0; i < 1_000 && !world.coming.isEmpty(); i++) {
      assertThat(view()).returns(0, PodView::port).returns(false, PodView::ready);
      step(world, world.next());
    }

    assertThat(world.coming).isEmpty();
    assertThat(state).isEqualTo(new PodState.Gone());
    assertThat(world.running).isZero();
    assertThat(world.removed).isEqualTo(1);
  }

  private void step(World world, PodEvent event) {
    var before = view();
    world.published = false;
    on(event);
    effects.forEach(world::perform);
    boolean looksDifferent = before.port() != view().port() || before.ready() != view().ready();
    assertThat(world.published || !looksDifferent).as("a change is published").isTrue();
  }

  private void on(PodEvent event) {
    var step = state.on(event);
    state = step.next();
    effects = step.effects();
  }

  private PodView view() {
    return PodView.of("pod", 7, state);
  }
}
