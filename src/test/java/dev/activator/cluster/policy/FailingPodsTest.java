package dev.activator.cluster.policy;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.policy.PodFailures.Patience;
import dev.activator.cluster.policy.PodStatus.FailureReason;
import dev.activator.cluster.policy.PodStatus.Sign;
import dev.activator.revision.StartFailure;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailingPodsTest {
  private static final Patience PATIENCE = new Patience(ofSeconds(3), ofSeconds(60));

  private static PodStatus pod(String name, @Nullable Sign sign, String reason) {
    return new PodStatus(name, sign == null ? null : new FailureReason(sign, reason, "why"));
  }

  private static @Nullable Duration left(PodFailures pods, int second) {
    return pods.left(ofSeconds(second), PATIENCE);
  }

  @ParameterizedTest(name = "{0}: {1} s")
  @CsvSource({"LASTING, 0", "PASSING, 3", "SLOW, 60"})
  void areWaitedForAsLongAsTheirSortMayPass(Sign sign, int seconds) {
    var pods = PodFailures.EMPTY.seen(pod("a", sign, "Word"), ofSeconds(10));

    assertThat(left(pods, 10)).isEqualTo(ofSeconds(seconds));
    assertThat(pods.failure(ofSeconds(10 + seconds).minusMillis(1), PATIENCE)).isNull();
    assertThat(pods.failure(ofSeconds(10 + seconds), PATIENCE))
        .isEqualTo(new StartFailure("Word", "why", "pod a"));
  }

  @Test
  void areNoFailureWhileThereIsNoneOrOneMayStart() {
    var ill = PodFailures.EMPTY.seen(pod("a", Sign.LASTING, "Word"), Duration.ZERO);

    assertThat(PodFailures.EMPTY.failure(ofSeconds(99), PATIENCE)).isNull();
    assertThat(left(PodFailures.EMPTY, 99)).isNull();
    assertThat(ill.seen(pod("b", null, ""), Duration.ZERO).failure(ofSeconds(99), PATIENCE))
        .isNull();
    assertThat(ill.gone("a").failure(ofSeconds(99), PATIENCE)).isNull();
  }

  @Test
  void areWaitedForUntilTheLastOfThemIsGivenUp() {
    var pods = PodFailures.EMPTY.seen(pod("a", Sign.PASSING, "Word"), ofSeconds(0))
        .seen(pod("b", Sign.PASSING, "Word"), ofSeconds(2));
    var other = PodFailures.EMPTY.seen(pod("a", Sign.PASSING, "Word"), ofSeconds(2))
        .seen(pod("b", Sign.PASSING, "Word"), ofSeconds(0));

    assertThat(left(pods, 4)).isEqualTo(ofSeconds(1));
    assertThat(left(other, 4)).isEqualTo(ofSeconds(1));
  }

  @Test
  void areWaitedForAnewOnlyWhereTheSortOfFailureChanges() {
    var pods = PodFailures.EMPTY.seen(pod("a", Sign.PASSING, "ErrImagePull"), ofSeconds(0));

    assertThat(left(pods.seen(pod("a", Sign.PASSING, "ImagePullBackOff"), ofSeconds(2)), 2))
        .isEqualTo(ofSeconds(1));
    assertThat(left(pods.seen(pod("a", Sign.SLOW, "Unschedulable"), ofSeconds(2)), 2))
        .isEqualTo(ofSeconds(60));
    assertThat(left(pods.seen(pod("a", null, ""), ofSeconds(2))
        .seen(pod("a", Sign.PASSING, "ErrImagePull"), ofSeconds(4)), 4)).isEqualTo(ofSeconds(3));
  }

  @Test
  void areToldOfWithinSixSeconds() {
    assertThat(Patience.DEFAULT.passing()).isLessThan(ofMillis(6_000));
  }

  @ParameterizedTest(name = "waits as {0}, ended as {1}, {2} restarts: {3} {4}")
  @CsvSource({"CrashLoopBackOff, '', 0, LASTING, CrashLoopBackOff",
      "CrashLoopBackOff, Error, 5, LASTING, CrashLoopBackOff",
      "CrashLoopBackOff, OOMKilled, 1, LASTING, OOMKilled", "'', OOMKilled, 2, LASTING, OOMKilled",
      "InvalidImageName, '', 0, LASTING, InvalidImageName",
      "ErrImagePull, '', 0, PASSING, ErrImagePull", "StartError, Error, 1, PASSING, StartError"})
  void areKnownByTheWordsOfKubernetes(String waiting, String ended, int restarts, Sign sign,
      String reason) {
    assertThat(FailureReasons.ofContainer(waiting, "why", ended, restarts))
        .isEqualTo(new FailureReason(sign, reason, reason.equals("OOMKilled")
            ? "the container needs more memory than its limit"
            : "why"));
  }

  @ParameterizedTest(name = "waits as {0}, ended as {1}, {2} restarts")
  @CsvSource({"'', '', 0", "ContainerCreating, '', 0", "PodInitializing, '', 0",
      "'', OOMKilled, 1", "'', Error, 9"})
  void areNoneWhereThatIsPartOfAnyStart(String waiting, String ended, int restarts) {
    assertThat(FailureReasons.ofContainer(waiting, "", ended, restarts)).isNull();
  }

  @Test
  void areSlowWhereSomebodyMayMakeRoom() {
    assertThat(FailureReasons.unschedulable("Unschedulable", "no node"))
        .isEqualTo(new FailureReason(Sign.SLOW, "Unschedulable", "no node"));
    assertThat(FailureReasons.notPrepared().sign()).isEqualTo(Sign.SLOW);
  }
}
