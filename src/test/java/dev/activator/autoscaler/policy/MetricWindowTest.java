package dev.activator.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class MetricWindowTest {
  private final MetricWindow six = new MetricWindow(6, false);
  private final MetricWindow sixty = new MetricWindow(60, false);

  private static void fill(MetricWindow window, int from, int to, double value) {
    for (int second = from; second <= to; second++) {
      window.record(second, value);
    }
  }

  @Test
  void theFirstSecondCountsInFull() {
    sixty.record(7, 100);

    assertThat(sixty.average(7)).isEqualTo(100);
  }

  @Test
  void reportsOfOneSecondAddUp() {
    sixty.record(7, 100);
    sixty.record(7, 20);

    assertThat(sixty.average(7)).isEqualTo(120);
  }

  @Test
  void aSecondWithoutAReportCountsAsZeroAndSilenceAfterTheLastDoesNot() {
    fill(sixty, 0, 9, 30);
    assertThat(sixty.average(19)).isEqualTo(30);

    sixty.record(20, 30);
    assertThat(sixty.average(20)).isEqualTo(15.714286);
  }

  @Test
  void silenceLetsSecondsSlideOut() {
    fill(sixty, 0, 9, 100);
    sixty.record(10, 0);

    assertThat(sixty.average(10)).isEqualTo(90.909091);
    assertThat(sixty.average(50)).isEqualTo(90.909091);
    assertThat(sixty.average(60)).isEqualTo(90);
    assertThat(sixty.average(66)).isEqualTo(75);
    assertThat(sixty.average(68)).isEqualTo(50);
    assertThat(sixty.average(69)).isZero();
  }

  @Test
  void isZeroOnceEverySecondWithAValueIsAWindowOld() {
    fill(sixty, 0, 9, 100);
    fill(sixty, 10, 68, 0);
    assertThat(sixty.average(68)).isEqualTo(1.666667);

    sixty.record(69, 0);
    assertThat(sixty.average(69)).isZero();
  }

  @Test
  void roundsToSixDecimals() {
    fill(sixty, 0, 10, 50.0000004);
    assertThat(sixty.average(10)).isEqualTo(50);

    var other = new MetricWindow(60, false);
    fill(other, 0, 10, 50.000001);
    assertThat(other.average(10)).isEqualTo(50.000001);
  }

  @Test
  void aSingleShortRequestVanishesInAWindowOfAnHour() {
    var hour = new MetricWindow(3_600, false);
    fill(hour, 0, 3_598, 0);
    hour.record(3_599, 0.001);

    assertThat(hour.average(3_599)).isZero();
  }

  @Test
  void takesLateReportsInAnyOrderAndIgnoresThoseThatAreTooLate() {
    six.record(100, 10);
    assertThat(six.average(100)).isEqualTo(10);
    six.record(97, 4);
    assertThat(six.average(100)).isEqualTo(3.5);
    six.record(94, 1_000);
    assertThat(six.average(100)).isEqualTo(3.5);
    six.record(95, 2);
    assertThat(six.average(100)).isEqualTo(2.666667);
    six.record(102, 6);

    assertThat(six.average(101)).isEqualTo(3.333333);
    assertThat(six.average(102)).isEqualTo(3.333333);
    assertThat(six.average(104)).isEqualTo(4);
    assertThat(six.average(107)).isEqualTo(6);
    assertThat(six.average(108)).isZero();
    six.record(108, 5);
    assertThat(six.average(108)).isEqualTo(5);
  }

  @Test
  void takesReportsOfTheFuture() {
    six.record(100, 6);
    six.record(103, 6);
    assertThat(six.average(100)).isEqualTo(3);
    assertThat(six.average(102)).isEqualTo(3);

    six.record(101, 3);
    assertThat(six.average(103)).isEqualTo(3.75);
    assertThat(six.average(104)).isEqualTo(3.75);
  }

  @Test
  void weighsRecentSecondsMore() {
    var weighted = new MetricWindow(6, true);
    for (int second = 0; second <= 5; second++) {
      weighted.record(second, second + 2);
    }

    assertThat(weighted.average(5)).isCloseTo(6.725322, within(5e-7));
    assertThat(weighted.average(6)).isCloseTo(1.448770, within(5e-7));
    assertThat(weighted.average(7)).isCloseTo(0.311893, within(5e-7));
    assertThat(weighted.average(11)).isZero();
  }

  @Test
  void aFreshLoadIsUnderestimatedByWeights() {
    var weighted = new MetricWindow(60, true);
    fill(weighted, 0, 4, 50);
    assertThat(weighted.average(4)).isCloseTo(33.616, within(1e-6));

    fill(weighted, 5, 60, 50);
    assertThat(weighted.average(60)).isCloseTo(49.999923, within(5e-7));
    assertThat(weighted.average(65)).isCloseTo(16.383923, within(5e-7));
  }

  @Test
  void aLongerWindowKeepsWhatThereIsAndCountsTheRestOfTheOldOneAsZero() {
    six.record(20, 10);
    six.resize(60, 20);

    assertThat(six.average(20)).isEqualTo(1.666667);
  }

  @Test
  void aShorterWindowKeepsTheNewest() {
    fill(sixty, 0, 59, 1);
    fill(sixty, 60, 62, 7);
    sixty.resize(6, 62);

    assertThat(sixty.average(62)).isEqualTo(4);
  }

  @Test
  void aResizedWindowForgetsWhatIsTooOld() {
    fill(six, 0, 5, 10);
    six.resize(60, 12);

    assertThat(six.average(12)).isZero();
    six.record(13, 4);
    assertThat(six.average(13)).isEqualTo(4);
  }
}
