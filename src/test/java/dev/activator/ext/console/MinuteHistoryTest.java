package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Revision;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.stats.RevisionStat;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MinuteHistoryTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");

  private final VirtualLoop loop = new VirtualLoop();
  private final long[] counts = new long[3];
  private int queued;
  private boolean counting;
  private int copies;
  private final TestRevisions revisions = new TestRevisions(loop, Revision.of(HELLO, 0));
  private final MinuteHistory activity = new MinuteHistory(revisions.live, loop::nanoTime,
      _ -> queued,
      new Histograms());

  /** Counts only while it is asked to. */
  private final class Histograms implements MinuteHistory.Durations {
    @Override
    public void start() {
      counting = true;
    }

    @Override
    public void stop() {
      counting = false;
      Arrays.fill(counts, 0);
    }

    @Override
    public long[] of(RevisionId id) {
      copies++;
      return counts.clone();
    }

    @Override
    public long[] recent(RevisionId id) {
      return new long[0];
    }
  }

  private void second(int requests, int depth) {
    queued = depth;
    counts[0] += counting ? requests : 0;
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

  @Test
  void countsDurationsOfTheLastMinuteOnly() {
    for (int i = 0; i < 200; i++) {
      activity.of(HELLO);
      second(1, 0);
    }

    assertThat(activity.of(HELLO).durations()[0]).isBetween(59L, 71L);
  }

  @Test
  void countsDurationsOfARevisionThatWasCreatedAgainFromZero() {
    activity.of(HELLO);
    second(5, 0);

    // when a report comes after it was deleted, and then it is created again
    revisions.remove(HELLO);
    second(0, 0);
    revisions.put(Revision.of(HELLO, 0));
    Arrays.fill(counts, 0);
    activity.of(HELLO);
    second(2, 0);

    assertThat(activity.of(HELLO).durations()).containsExactly(2, 0, 0);
  }

  @Test
  void countsDurationsWhileAPageIsOpenAndForAMinuteAfter() {
    second(3, 0);
    assertThat(counting).isFalse();

    // when a page is open, then what comes from now on is counted, also if it comes alone
    activity.of(HELLO);
    assertThat(counting).isTrue();
    loop.advance(Duration.ofMinutes(5));
    activity.of(HELLO);
    second(1, 0);
    assertThat(activity.of(HELLO).durations()).containsExactly(1, 0, 0);

    // when no page was open for a minute, then nothing is counted
    for (int i = 0; i < 60; i++) {
      second(1, 0);
    }
    assertThat(counting).isTrue();
    second(1, 0);
    second(1, 0);
    assertThat(counting).isFalse();

    // and what was counted before is not missing from what is counted later
    activity.of(HELLO);
    second(2, 0);
    assertThat(activity.of(HELLO).durations()).containsExactly(2, 0, 0);
  }

  @Test
  void copiesNoHistogram_unlessAPageIsOpen_andThenOneInTenSeconds() {
    for (int i = 0; i < 30; i++) {
      second(1, 0);
    }
    assertThat(copies).isZero();

    activity.of(HELLO);
    copies = 0;
    for (int i = 0; i < 30; i++) {
      second(1, 0);
    }
    assertThat(copies).isBetween(2, 4);
  }

  @Test
  void forgetsADeletedRevision() {
    second(3, 0);
    revisions.remove(HELLO);

    assertThat(activity.of(HELLO).requestsInAll()).isZero();
  }

  @Test
  void findsPercentilesOfFewValuesExactly() {
    var many = new long[16];
    many[3] = 100;

    assertThat(MinuteHistory.exactOrEstimated(null, new long[]{376}, 0.5)).isEqualTo(376);
    assertThat(MinuteHistory.exactOrEstimated(many, new long[]{376}, 0.99)).isEqualTo(376);
    assertThat(MinuteHistory.exactOrEstimated(many, new long[]{1, 2, 3, 4}, 0.5)).isEqualTo(2);
    assertThat(MinuteHistory.exactOrEstimated(many, new long[]{1, 2, 3, 4}, 0.99)).isEqualTo(4);
    assertThat(MinuteHistory.exactOrEstimated(many, null, 0.5)).isGreaterThan(4);
    assertThat(MinuteHistory.exactOrEstimated(null, null, 0.5)).isNaN();
  }

  @Test
  void interpolatesPercentilesInTheirBucket() {
    var bounds = new long[]{10, 20};

    assertThat(MinuteHistory.percentile(new long[]{0, 0, 0}, bounds, 0.5)).isNaN();
    assertThat(MinuteHistory.percentile(new long[]{4, 0, 0}, bounds, 0.5)).isEqualTo(5);
    assertThat(MinuteHistory.percentile(new long[]{2, 2, 0}, bounds, 0.75)).isEqualTo(15);
    assertThat(MinuteHistory.percentile(new long[]{1, 1, 8}, bounds, 0.99)).isEqualTo(20);
  }
}
