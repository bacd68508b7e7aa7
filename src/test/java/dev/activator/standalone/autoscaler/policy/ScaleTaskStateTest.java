package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.autoscaler.policy.ScaleTaskState.Event;
import dev.activator.standalone.autoscaler.policy.ScaleTaskState.Limits;
import dev.activator.standalone.autoscaler.policy.ScaleTaskState.Phase;
import dev.activator.standalone.autoscaler.policy.ScaleTaskState.ZeroPermission;
import dev.activator.revision.ScaleApiResult.Found;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScaleTaskStateTest {
  private static final Limits NONE = new Limits(true, false, 0, ZeroPermission.NOT_REQUESTED);

  private static ScaleTaskState of(int replicas, boolean isFresh) {
    return new ScaleTaskState(Phase.IDLE, new Found(replicas, replicas, "1"), isFresh,
        OptionalInt.empty());
  }

  private static Event.Due due(String write, Limits limits) {
    return new Event.Due(
        write.equals("-") ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(write)), limits);
  }

  @ParameterizedTest(name = "{0} replicas, fresh {1}, write {2}: {3}, then {4}, unwritten {5}")
  @CsvSource({"2, true,  -, ForgetFailures, IDLE, -", "2, false, -, None, IDLE, -",
      "2, false, 3, Read, READING, -", "2, true, 3, Write, WRITING, -",
      "2, false, 1, Read, READING, 2", "2, true, 1, Confirm, CONFIRMING, 2",
      "2, true, 0, RequestZero, IDLE, 2", "0, false, 1, Write, WRITING, -"})
  void readsBeforeItWrites_exceptFromZero_andConfirmsBeforeItRemovesPods(int replicas,
      boolean isFresh,
      String write, String action, Phase phase, String unwritten) {
    var step = of(replicas, isFresh).on(due(write, NONE));

    assertThat(step.action().getClass().getSimpleName()).isEqualTo(action);
    assertThat(step.state().phase()).isEqualTo(phase);
    assertThat(step.state().unwritten()).isEqualTo(
        unwritten.equals("-")
            ? OptionalInt.empty()
            : OptionalInt.of(Integer.parseInt(unwritten)));
  }

  @ParameterizedTest(name = "write {0}, leads {1}, refused {2}, pause {3}, zero {4}: {5}, {6}")
  @CsvSource({"3, false, false, 0, GRANTED, WaitUntilLeader, 2",
      "3, true, true, 0, GRANTED, Write, 2", "3, true, false, 9, GRANTED, Write, -1",
      "1, true, false, 9, GRANTED, Wait, 2", "0, true, false, 0, REQUESTED, None, 2",
      "0, true, false, 0, REFUSED, KeepLastPods, 2", "0, true, false, 0, GRANTED, Confirm, 2"})
  void respectsTheLimits(String write, boolean leads, boolean refused, long pause,
      ZeroPermission zero, String action, int unwritten) {
    var step = of(2, true).on(due(write, new Limits(leads, refused, pause, zero)));

    assertThat(step.action().getClass().getSimpleName()).isEqualTo(action);
    assertThat(step.state().unwritten().orElse(-1)).isEqualTo(unwritten);
  }

  @Test
  void aReadIsUsedForOneWriteOnly_exceptIfThePermissionIsThereAtOnce() {
    var requested = of(2, true).on(due("0", NONE)).state();

    assertThat(requested.isFresh()).isTrue();
    assertThat(requested.on(due("0", new Limits(true, false, 0, ZeroPermission.REQUESTED))).state()
        .isFresh()).isFalse();
  }

  @Test
  void sendsOneRequestAtATime() {
    var reading = ScaleTaskState.BEGIN.on(due("-", NONE)).state();

    assertThat(reading.phase()).isEqualTo(Phase.READING);
    assertThat(reading.on(due("3", NONE)))
        .isEqualTo(new ScaleTaskState.Step(reading, new ScaleTaskState.Action.None()));
  }

  @ParameterizedTest
  @CsvSource({"true, Read", "false, ForgetFailures"})
  void aReadDuringWhichAnotherMayHaveScaled_isRepeated(boolean isStale, String next) {
    var reading = ScaleTaskState.BEGIN.on(due("-", NONE)).state();
    var ended = (isStale ? reading.on(new Event.Stale()).state() : reading).on(new Event.Ended())
        .state().on(new Event.WasRead(new Found(2, 2, "1"))).state();

    assertThat(ended.on(due("-", NONE)).action().getClass().getSimpleName()).isEqualTo(next);
  }

  @Test
  void afterARefusal_theScaleIsReadAgain() {
    var refused = of(2, true).on(due("3", NONE)).state().on(new Event.Ended()).state()
        .on(new Event.WriteRefused(2)).state();

    assertThat(refused).isEqualTo(
        new ScaleTaskState(Phase.IDLE, null, false, OptionalInt.of(2)));
  }
}
