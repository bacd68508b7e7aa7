package dev.activator.ext.podstarts.policy;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.podstarts.policy.StartingPodSet.GracePeriods;
import dev.activator.ext.podstarts.policy.PodStartStatus.FailureReason;
import dev.activator.ext.podstarts.policy.PodStartStatus.Persistence;
import dev.activator.ext.podstarts.policy.PodStartStatus.Termination;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailingPodsTest {
  private static final GracePeriods GRACE = new GracePeriods(ofSeconds(3), ofSeconds(60),
      ofSeconds(60), false);

  private static PodStartStatus pod(String name, @Nullable Persistence persistence, String reason) {
    return new PodStartStatus(name, "uid of " + name,
        persistence == null ? null : new FailureReason(persistence, reason, "why"), Map.of());
  }

  /** @param container the second in which its containers were started; negative if they were not */
  private static PodStartStatus scheduled(String name, int container) {
    var ends = new EnumMap<StartPhase, Instant>(StartPhase.class);
    ends.put(StartPhase.CREATE, Instant.EPOCH);
    if (container >= 0) {
      ends.put(StartPhase.CONTAINER, Instant.EPOCH.plusSeconds(container));
    }
    return new PodStartStatus(name, "uid of " + name, null, ends);
  }

  @Test
  void furthestIsTheOneWithTheMostPhasesBehindIt_andOfSeveralTheFirst() {
    assertThat(StartingPodSet.EMPTY.furthest()).isNull();

    var pods = StartingPodSet.EMPTY.with(pod("a", null, ""), Duration.ZERO)
        .with(scheduled("b", -1), Duration.ZERO);
    assertThat(pods.furthest().name()).isEqualTo("b");

    var started = pods.with(scheduled("c", 5), Duration.ZERO)
        .with(scheduled("d", 3), Duration.ZERO).with(scheduled("e", 4), Duration.ZERO);
    assertThat(started.furthest().name()).isEqualTo("d");
  }

  private static @Nullable Duration left(StartingPodSet pods, int second) {
    return pods.left(ofSeconds(second), GRACE);
  }

  @ParameterizedTest(name = "{0}: {1} s")
  @CsvSource({"PERMANENT, 0", "RETRIED, 3", "SLOW, 60", "UNSCHEDULED, 60"})
  void areWaitedForAsLongAsTheyMayEnd(Persistence persistence, int seconds) {
    var pods = StartingPodSet.EMPTY.with(pod("a", persistence, "Word"), ofSeconds(10));

    assertThat(left(pods, 10)).isEqualTo(ofSeconds(seconds));
    assertThat(pods.failure(ofSeconds(10 + seconds).minusMillis(1), GRACE)).isNull();
    assertThat(pods.failure(ofSeconds(10 + seconds), GRACE))
        .isEqualTo(new RevisionStartFailure("Word", "why", "pod a"));
  }

  @Test
  void areNoFailureWhileThereIsNoneOrOneMayStart() {
    var failing = StartingPodSet.EMPTY.with(pod("a", Persistence.PERMANENT, "Word"), Duration.ZERO);

    assertThat(StartingPodSet.EMPTY.failure(ofSeconds(99), GRACE)).isNull();
    assertThat(left(StartingPodSet.EMPTY, 99)).isNull();
    assertThat(failing.with(pod("b", null, ""), Duration.ZERO).failure(ofSeconds(99), GRACE))
        .isNull();
    assertThat(failing.without("a").failure(ofSeconds(99), GRACE)).isNull();
  }

  @Test
  void areWaitedForUntilTheLastOfThemIsGivenUp() {
    var pods = StartingPodSet.EMPTY.with(pod("a", Persistence.RETRIED, "Word"), ofSeconds(0))
        .with(pod("b", Persistence.RETRIED, "Word"), ofSeconds(2));
    var other = StartingPodSet.EMPTY.with(pod("a", Persistence.RETRIED, "Word"), ofSeconds(2))
        .with(pod("b", Persistence.RETRIED, "Word"), ofSeconds(0));

    assertThat(left(pods, 4)).isEqualTo(ofSeconds(1));
    assertThat(left(other, 4)).isEqualTo(ofSeconds(1));
  }

  @Test
  void areWaitedForAgainOnlyWhereThePersistenceChanges() {
    var pods = StartingPodSet.EMPTY.with(pod("a", Persistence.RETRIED, "ErrImagePull"),
        ofSeconds(0));

    assertThat(left(pods.with(pod("a", Persistence.RETRIED, "ImagePullBackOff"), ofSeconds(2)), 2))
        .isEqualTo(ofSeconds(1));
    assertThat(left(pods.with(pod("a", Persistence.UNSCHEDULED, "Unschedulable"), ofSeconds(2)), 2))
        .isEqualTo(ofSeconds(60));
    assertThat(left(pods.with(pod("a", null, ""), ofSeconds(2))
        .with(pod("a", Persistence.RETRIED, "ErrImagePull"), ofSeconds(4)), 4))
        .isEqualTo(ofSeconds(3));
  }

  @Test
  void areReportedWithinSixSeconds() {
    assertThat(GracePeriods.DEFAULT.retried()).isLessThan(ofMillis(6_000));
  }

  @ParameterizedTest(name = "waits as {0}, ended as {1}, {2} restarts: {3} {4}")
  @CsvSource({"CrashLoopBackOff, '', 0, PERMANENT, CrashLoopBackOff",
      "CrashLoopBackOff, Error, 5, PERMANENT, CrashLoopBackOff",
      "CrashLoopBackOff, OOMKilled, 1, PERMANENT, OOMKilled",
      "'', OOMKilled, 2, PERMANENT, OOMKilled",
      "InvalidImageName, '', 0, PERMANENT, InvalidImageName",
      "ErrImagePull, '', 0, RETRIED, ErrImagePull", "StartError, Error, 1, RETRIED, StartError"})
  void areKnownByTheReasonsOfKubernetes(String waiting, String ended, int restarts,
      Persistence persistence,
      String reason) {
    assertThat(
        FailureReason.ofContainer("app", waiting, "why", new Termination(ended, 0, ""), restarts))
        .isEqualTo(new FailureReason(persistence, reason, reason.equals("OOMKilled")
            ? "container app needs more memory than its limit"
            : ended.isEmpty() || !waiting.equals("CrashLoopBackOff")
                ? "container app: why"
                : "container app ended with exit code 0; where a livenessProbe or startupProbe failed,"
                    + " an Event of the pod says so"));
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(delimiter = '|', value = {
      "''                                     | container app ended with exit code 3",
      "panic: no DATABASE_URL                 | container app ended with exit code 3: panic: no DATABASE_URL",
      "'Traceback:~  File \"x.py\"~KeyError: 1~' | container app ended with exit code 3: KeyError: 1",
      "'Exception in thread \"main\" Boom~\tat Main.main(Main.java:1)'"
          + " | container app ended with exit code 3: Exception in thread \"main\" Boom"})
  void sayHowACrashingContainerEnded(String message, String says) {
    var ended = new Termination("Error", 3, message.replace('~', '\n'));

    assertThat(FailureReason.ofContainer("app", "CrashLoopBackOff", "back-off 40s", ended, 4))
        .isEqualTo(new FailureReason(Persistence.PERMANENT, "CrashLoopBackOff", says));
  }

  @ParameterizedTest(name = "waits as {0}, ended as {1}, {2} restarts")
  @CsvSource({"'', '', 0", "ContainerCreating, '', 0", "PodInitializing, '', 0",
      "'', OOMKilled, 1", "'', Error, 9"})
  void areNoneWhereTheReasonIsPartOfAnyStart(String waiting, String ended, int restarts) {
    assertThat(
        FailureReason.ofContainer("app", waiting, "", new Termination(ended, 0, ""), restarts))
        .isNull();
  }

  @Test
  void areSlowWhereANodeMayBeAdded() {
    assertThat(FailureReason.unschedulable("Unschedulable", "no node"))
        .isEqualTo(new FailureReason(Persistence.UNSCHEDULED, "Unschedulable", "no node"));
    assertThat(FailureReason.notPrepared().persistence()).isEqualTo(Persistence.SLOW);
  }
}
