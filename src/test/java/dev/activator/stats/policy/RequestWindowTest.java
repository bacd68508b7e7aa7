package dev.activator.stats.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.revision.RevisionId;
import org.junit.jupiter.api.Test;

class RequestWindowTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");

  @Test
  void weighsRequestsByTheTimeTheyAreThere() {
    // one request for 2, another for 1 of 4
    var report = RequestWindow.startingAt(100).arrived(100).arrived(100).left(101).left(102)
        .report(104);

    assertThat(report.totals()).isEqualTo(new WindowTotals(2, 3, 4));
    assertThat(report.totals().averageConcurrency()).isEqualTo(0.75);
  }

  @Test
  void requestsThatStayCountInTheNextWindowButDoNotArriveInIt() {
    var first = RequestWindow.startingAt(0).arrived(0).report(10);
    var second = first.next().report(30);

    assertThat(first.totals()).isEqualTo(new WindowTotals(1, 10, 10));
    assertThat(second.totals()).isEqualTo(new WindowTotals(0, 20, 20));
  }

  @Test
  void aWindowOfNoLengthHasNoConcurrency() {
    var totals = RequestWindow.startingAt(5).arrived(5).report(5).totals();

    assertThat(totals).isEqualTo(new WindowTotals(1, 0, 0));
    assertThat(totals.averageConcurrency()).isZero();
  }

  @Test
  void timesOutOfOrderAreIgnored() {
    var window = RequestWindow.startingAt(10).arrived(12).arrived(11).left(9);

    assertThat(window.changedNanos()).isEqualTo(12);
    assertThat(window.report(14).totals()).isEqualTo(new WindowTotals(2, 2, 4));
    assertThat(window.report(3).totals()).isEqualTo(new WindowTotals(2, 0, 2));
  }

  @Test
  void aRequestThatNeverArrivedCannotLeave() {
    assertThatThrownBy(() -> RequestWindow.startingAt(0).left(1))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void twoLoopsMakeOneWindowAsLongAsTheLonger() {
    assertThat(new WindowTotals(2, 30, 20).plus(new WindowTotals(1, 5, 10)))
        .isEqualTo(new WindowTotals(3, 35, 20));
  }

  @Test
  void whatWasToldAtOnceIsNotToldAgain() {
    assertThat(RevisionStat.of(REVISION, new WindowTotals(3, 30, 20), 1))
        .isEqualTo(new RevisionStat(REVISION, 0.5, 2));
    assertThat(RevisionStat.of(REVISION, new WindowTotals(1, 1, 20), 1))
        .isEqualTo(new RevisionStat(REVISION, 0, 0));
  }
}
