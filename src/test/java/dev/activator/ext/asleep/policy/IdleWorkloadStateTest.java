package dev.activator.ext.asleep.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.asleep.policy.IdleWorkloadState.Action;
import dev.activator.ext.asleep.policy.IdleWorkloadState.Event;
import dev.activator.ext.asleep.policy.IdleWorkloadState.Fall;
import dev.activator.ext.asleep.policy.IdleWorkloadState.StatusChange;
import dev.activator.revision.IdleState;
import dev.activator.revision.IdleState.Phase;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.ScaleTargetRef;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IdleWorkloadStateTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private static @Nullable IdleState state(String text) {
    return text.equals("-") ? null : new IdleState(Phase.valueOf(text), NOW, "sleep");
  }

  private static IdleState falling() {
    return new IdleState(Phase.FALLING_ASLEEP, NOW, "sleep");
  }

  /** @param fall {@code -} for none, {@code ours}, or {@code later} for one that came afterwards */
  private static IdleWorkloadState of(String stored, String fall, boolean isAsleepByUs) {
    var begun = new Fall(fall.equals("ours")
        ? falling()
        : new IdleState(Phase.FALLING_ASLEEP, NOW.plusSeconds(1), "sleep"), false, List.of());
    return new IdleWorkloadState(state(stored), fall.equals("-") ? null : begun,
        isAsleepByUs ? state(stored) : null, null);
  }

  private static String name(Action action) {
    return action instanceof Action.StayAsleep(boolean repeat, var removeIn)
        ? "StayAsleep" + (repeat ? " again" : "") + (removeIn == null ? "" : " " + removeIn)
        : action.getClass().getSimpleName();
  }

  @ParameterizedTest(name = "stored {0}, fall {1}, asleep by us {2}, replicas {3}, sleeps {4}, leads {5}: {6}")
  @CsvSource({"-, -, false, 1, true, true, None", "-, -, false, 0, true, true, None",
      "FALLING_ASLEEP, ours, false, 1, true, true, None",
      "FALLING_ASLEEP, later, false, 1, true, true, Recover",
      "FALLING_ASLEEP, -, false, 1, true, true, Recover",
      "FALLING_ASLEEP, -, false, 1, true, false, None",
      "FALLING_ASLEEP, -, false, 0, true, true, Recover",
      "ASLEEP, -, true, 1, true, true, StayAsleep PT1M",
      "ASLEEP, -, false, 1, true, true, StayAsleep again PT1M",
      "ASLEEP, -, false, 1, true, false, StayAsleep", "ASLEEP, -, true, 0, true, true, AwaitEnd",
      "ASLEEP, -, true, 1, false, true, Recover", "ASLEEP, -, true, 1, false, false, None",
      "WAKING, -, false, 1, true, true, Recover", "WAKING, -, false, 0, true, true, AwaitEnd"})
  void aReadShowsWhatHasToBeDone(String stored, String fall, boolean isAsleepByUs, int replicas,
      boolean sleeps, boolean leads, String action) {
    var step = of(stored, fall, isAsleepByUs)
        .on(new Event.Read(replicas, sleeps, Duration.ofMinutes(1), leads, NOW));

    assertThat(name(step.action())).isEqualTo(action);
  }

  @Test
  void sleepIsRepeated_untilThePodsHaveFallenAsleep() {
    var read = new Event.Read(1, true, Duration.ZERO, true, NOW);
    var repeated = of("ASLEEP", "-", false).on(read).state();
    assertThat(repeated.on(read).action()).isEqualTo(new Action.StayAsleep(true, null));

    var slept = repeated.on(new Event.Slept()).state();

    assertThat(slept.on(read).action()).isEqualTo(new Action.StayAsleep(false, null));
    assertThat(slept.on(new Event.Stored(null, StatusChange.BY_ANOTHER_LEADER)).state().asleep())
        .isNull();
    assertThat(slept.on(new Event.Started()).state().on(read).action())
        .isEqualTo(new Action.StayAsleep(true, null));
  }

  @ParameterizedTest(name = "stored {0}, read as {1}: {2}")
  @CsvSource({"ASLEEP, ASLEEP, Recover", "FALLING_ASLEEP, FALLING_ASLEEP, Recover",
      "WAKING, WAKING, Recover", "ASLEEP, -, None", "ASLEEP, later, StayAsleep again"})
  void podsThatWereWokenStayAwake_thoughTheStatusDoesNotSaySo(String stored, String read,
      String action) {
    var later = new IdleState(Phase.ASLEEP, NOW.plusSeconds(1), "sleep");

    var woken = of(stored, "-", true).on(new Event.Woken()).state();
    var seen = woken.on(new Event.Stored(read.equals("later") ? later : state(read),
        StatusChange.BY_ANOTHER_LEADER)).state();

    assertThat(woken.asleep()).isNull();
    assertThat(name(seen.on(new Event.Read(1, true, Duration.ZERO, true, NOW)).action()))
        .isEqualTo(action);
    assertThat(name(seen.on(new Event.Due(falling(), true)).action())).isEqualTo("Refuse");
  }

  @ParameterizedTest(name = "{0}, then {1}: {2}")
  @CsvSource({"ASLEEP, NONE, true", "-, NONE, true", "ASLEEP, BY_THIS_PROCESS, true",
      "-, BY_THIS_PROCESS, false", "ASLEEP, BY_ANOTHER_LEADER, false",
      "-, BY_ANOTHER_LEADER, false", "-, NEW_OBJECT, true"})
  void sleepingPodsAreKnown_untilTheyAreWokenOrAnotherLeaderWrites(String now, StatusChange change,
      boolean known) {
    var pods = new SleepingPods(PodsByReadiness.NONE,
        new IdleTarget(new ScaleTargetRef("apps/v1", "Deployment", "web"), "sleep", Duration.ZERO,
            Duration.ZERO, SleepCalls.DEFAULT, ShrinkSpec.NONE),
        falling());
    var sleeping = of("FALLING_ASLEEP", "ours", false).on(new Event.Sleeping(pods)).state();

    var seen = sleeping.on(new Event.Stored(state(now), change)).state();

    assertThat(seen.slept()).isEqualTo(known ? pods : null);
  }

  @ParameterizedTest(name = "stored {0}, fall {1}: {2}")
  @CsvSource({"-, ours, Store", "FALLING_ASLEEP, ours, Recover", "ASLEEP, ours, Recover",
      "-, -, Refuse", "-, later, Refuse"})
  void aFallIsStoredIfThePodsRun(String stored, String fall, String action) {
    var begun = of(stored, fall, false);
    assertThat(name(begun.on(new Event.Due(falling(), false)).action()))
        .as("while another may lead").isEqualTo("Refuse");

    var step = begun.on(new Event.Due(falling(), true));

    assertThat(name(step.action())).isEqualTo(action);
  }

  @ParameterizedTest(name = "fall {0}, drains {1}, missing {2}, late {3}: {4}, then {5}")
  @CsvSource({"ours, false, 0, false, Permit, Sleep", "ours, false, 1, false, Wait, -",
      "ours, false, 1, true, StayAwake, -", "ours, true, 1, true, Permit, RemoveAwake",
      "ours, true, 1, false, Wait, -", "later, false, 0, false, Refuse, Refuse",
      "-, false, 0, false, Refuse, Refuse"})
  void podsSleepOnceAllActivatorsHaveAcknowledged(String fall, boolean drains, int missing,
      boolean isLate, String action, String write) {
    var begun = of("FALLING_ASLEEP", fall, false);
    if (drains) {
      begun = begun.on(new Event.Begun(new Fall(falling(), true, List.of()))).state();
    }

    var step = begun.on(new Event.Acknowledged(falling(), missing == 0 ? List.of() : List.of("a"),
        isLate));

    assertThat(name(step.action())).isEqualTo(action);
    if (!write.equals("-")) {
      var written = step.state().on(new Event.Write(0, true));
      assertThat(name(written.action())).isEqualTo(write);
      assertThat(written.state().fall()).isNull();
    }
  }

  @ParameterizedTest(name = "stored {0}, replicas {1}, sleeps {2}: {3}")
  @CsvSource({"-, 1, true, None", "ASLEEP, 1, true, Wake", "FALLING_ASLEEP, 1, true, Wake",
      "-, 0, true, Refuse", "-, 0, false, None", "ASLEEP, 0, false, Wake"})
  void aWriteWakes_orIsOneOfTheScale(String stored, int replicas, boolean sleeps, String action) {
    var step = of(stored, "-", false).on(new Event.Write(replicas, sleeps));

    assertThat(name(step.action())).isEqualTo(action);
  }

  @Test
  void aLaterFallIsNotCancelledByAnEarlierOne() {
    var later = of("-", "later", false);

    assertThat(later.on(new Event.Cancelled(falling())).state()).isEqualTo(later);
    assertThat(of("-", "ours", false).on(new Event.Cancelled(falling())).state().fall()).isNull();
  }
}
