package dev.activator.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RequestStats;
import dev.activator.stats.ConcurrencyReporter.RequestStats.Totals;
import org.junit.jupiter.api.Test;

class RequestStatsTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");

  @Test
  void weighsRequestsByTheTimeTheyAreThere() {
    // one request for 2, another for 1 of 4
    var window = new RequestStats(100);
    window.arrived(100);
    window.arrived(100);
    window.left(101);
    window.left(102);
    var totals = window.report(104);

    assertThat(totals).isEqualTo(new Totals(2, 3, 4, 0, 0));
    assertThat(totals.averageConcurrency()).isEqualTo(0.75);
  }

  @Test
  void requestsThatStayCountInTheNextWindowButDoNotArriveInIt() {
    var window = new RequestStats(0);
    window.arrived(0);
    window.reportedAtOnce();

    assertThat(window.report(10)).isEqualTo(new Totals(1, 10, 10, 1, 1));
    assertThat(window.report(30)).isEqualTo(new Totals(0, 20, 20, 0, 1));
  }

  @Test
  void aWindowOfNoLengthHasNoConcurrency() {
    var window = new RequestStats(5);
    window.arrived(5);
    var totals = window.report(5);

    assertThat(totals).isEqualTo(new Totals(1, 0, 0, 0, 1));
    assertThat(totals.averageConcurrency()).isZero();
  }

  @Test
  void timesOutOfOrderAreIgnored() {
    // 12 is the last time that counts
    assertThat(outOfOrder().report(14)).isEqualTo(new Totals(2, 2, 4, 0, 1));
    assertThat(outOfOrder().report(12)).isEqualTo(new Totals(2, 0, 2, 0, 1));
    assertThat(outOfOrder().report(3)).isEqualTo(new Totals(2, 0, 2, 0, 1));
  }

  private static RequestStats outOfOrder() {
    var window = new RequestStats(10);
    window.arrived(12);
    window.arrived(11);
    window.left(9);
    return window;
  }

  @Test
  void aRequestThatNeverArrivedCannotLeave() {
    assertThatThrownBy(() -> new RequestStats(0).left(1))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void twoLoopsMakeOneWindowAsLongAsTheLonger() {
    assertThat(new Totals(2, 30, 20, 1, 2).plus(new Totals(1, 5, 10, 0, 1)))
        .isEqualTo(new Totals(3, 35, 20, 1, 3));
  }

  @Test
  void whatWasReportedAtOnceIsNotReportedAgain() {
    assertThat(RevisionStat.of(REVISION, new Totals(3, 30, 20, 1, 1)))
        .isEqualTo(new RevisionStat(REVISION, 0.5, 2));
    assertThat(RevisionStat.of(REVISION, new Totals(1, 1, 20, 1, 0)))
        .isEqualTo(new RevisionStat(REVISION, 0, 0));
  }
}
