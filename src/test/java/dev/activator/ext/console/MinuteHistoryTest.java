package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.activator.observability.FakeRequest;
import dev.activator.observability.RequestObservers;
import dev.activator.observability.RequestOutcome;
import dev.activator.revision.Revision;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.stats.RevisionStat;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MinuteHistoryTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");

  private final VirtualLoop loop = new VirtualLoop();
  private int queued;
  private final RequestObservers observers = new RequestObservers();
  private final TestRevisions revisions = new TestRevisions(loop, Revision.of(HELLO, 0));
  private final MinuteHistory activity = new MinuteHistory(revisions.live, loop::nanoTime,
      _ -> queued, observers);

  private void second(int requests, int depth) {
    queued = depth;
    activity.reported(List.of(new RevisionStat(HELLO, 1, requests)));
    loop.advance(Duration.ofSeconds(1));
  }

  @Test
  void keepsALineOfSixtySeconds() {
    second(3, 1);
    second(5, 2);
    loop.advance(Duration.ofSeconds(2));
    second(7, 0);

    var minute = activity.of(HELLO);

    assertThat(minute.requests()).hasSize(60).endsWith(3, 5, 0, 0, 7);
    assertThat(minute.queue()).endsWith(1, 2, 0, 0, 0);
    assertThat(minute.requestsInAll()).isEqualTo(15);
    loop.advance(Duration.ofSeconds(59));
    assertThat(activity.of(HELLO).requestsInAll()).isEqualTo(7);
    loop.advance(Duration.ofSeconds(10));
    assertThat(activity.of(HELLO).requestsInAll()).isZero();
  }

  @Test
  void fillsASkippedSecond_whenAReportIsLate() {
    second(3, 4);
    loop.advance(Duration.ofSeconds(1));
    second(3, 2);

    assertThat(activity.of(HELLO).queue()).endsWith(4, 4, 2);
  }

  @Test
  void showsTheLastQueueUntilTheNextReport() {
    second(3, 4);
    loop.advance(Duration.ofSeconds(1));
    assertThat(activity.of(HELLO).queue()).endsWith(0, 4, 4);

    // also if a page was open since then, and not for longer
    second(0, 2);
    assertThat(activity.of(HELLO).queue()).endsWith(4, 4, 2);
    loop.advance(Duration.ofSeconds(2));
    assertThat(activity.of(HELLO).queue()).endsWith(4, 4, 2, 0, 0);
  }

  @Test
  void marksTheUsualStartOnTheLineOfOneUnderWay() {
    assertThat(Charts.start(Duration.ofSeconds(2), Map.of(), Duration.ofSeconds(4)))
        .contains("class=\"usual\" x=\"346.8\"", "a start usually takes 4.0 s");
    assertThat(Charts.start(Duration.ofSeconds(2), Map.of(), Duration.ZERO))
        .doesNotContain("usual");
  }

  /** A request, seen by those who observe requests now. */
  private void took(Duration time) {
    var request = FakeRequest.of(observers, loop, revisions.of(HELLO));
    loop.advance(time);
    request.ended(RequestOutcome.ANSWERED, 200);
  }

  private double millis(double share) {
    return activity.of(HELLO).durations().percentile(share) / 1e6;
  }

  @Test
  void measuresRequestsOfTheLastMinuteOnly() {
    activity.of(HELLO);
    took(Duration.ofMillis(376));
    took(Duration.ofMillis(5));
    assertThat(millis(0.5)).isCloseTo(5, withinPercentage(3));
    assertThat(millis(0.99)).isCloseTo(376, withinPercentage(3));

    loop.advance(Duration.ofSeconds(71));
    assertThat(millis(0.5)).isNaN();
    took(Duration.ofMillis(7));
    assertThat(millis(0.5)).isCloseTo(7, withinPercentage(3));
  }

  @Test
  void measuresRequestsThatDoNotCountForTheAutoscaler() {
    activity.of(HELLO);
    took(Duration.ofMillis(5));

    // when the statistics have other revisions only
    activity.reported(List.of());

    assertThat(millis(0.5)).isCloseTo(5, withinPercentage(3));
  }

  @Test
  void measuresARevisionThatWasCreatedAgainFromTheStart() {
    activity.of(HELLO);
    took(Duration.ofMillis(5));

    // when a report comes after it was deleted, and then it is created again
    revisions.remove(HELLO);
    second(0, 0);
    revisions.put(Revision.of(HELLO, 0));
    took(Duration.ofMillis(40));

    assertThat(millis(0.01)).isCloseTo(40, withinPercentage(3));
  }

  @Test
  void observesRequestsWhileAPageIsOpenAndForAMinuteAfter() {
    second(3, 0);
    assertThat(observers.all()).isEmpty();

    // when a page is open, then what comes from now on is measured, also if it comes alone
    activity.of(HELLO);
    assertThat(observers.all()).hasExactlyElementsOfTypes(MinuteHistory.class);
    loop.advance(Duration.ofMinutes(5));
    activity.of(HELLO);
    assertThat(observers.all()).hasExactlyElementsOfTypes(MinuteHistory.class);
    took(Duration.ofMillis(5));

    // when no page was open for a minute, then nothing is measured
    for (int i = 0; i < 60; i++) {
      second(1, 0);
    }
    assertThat(observers.all()).isNotEmpty();
    second(1, 0);
    second(1, 0);
    assertThat(observers.all()).isEmpty();

    // and what was measured before is gone
    assertThat(millis(0.5)).isNaN();
  }

  @ParameterizedTest
  @ValueSource(longs = {16_000, 17_999, 1_000_000, 1_023_999, 1_024_000, 376_000_000,
      59_999_999_999L, 600_000_000_000L})
  void knowsADurationToThreePercent(long nanos) {
    var one = new MinuteHistory.Durations();
    one.add(nanos);

    assertThat(one.percentile(0.5)).isCloseTo(nanos, withinPercentage(3.2));
  }

  @Test
  void findsPercentilesByRank() {
    var four = new MinuteHistory.Durations();
    for (int millis = 1; millis <= 4; millis++) {
      four.add(millis * 1_000_000L);
    }

    assertThat(four.percentile(0.5)).isCloseTo(2e6, withinPercentage(3));
    assertThat(four.percentile(0.99)).isCloseTo(4e6, withinPercentage(3));
    assertThat(new MinuteHistory.Durations().percentile(0.5)).isNaN();
    // The shortest and the longest do not fall out.
    four.add(0);
    four.add(Long.MAX_VALUE);
    assertThat(four.percentile(0)).isLessThan(17_000);
    assertThat(four.percentile(1)).isGreaterThan(Duration.ofMinutes(17).toNanos());
  }

  @Test
  void forgetsADeletedRevision() {
    second(3, 0);
    revisions.remove(HELLO);

    assertThat(activity.of(HELLO).requestsInAll()).isZero();
  }
}
