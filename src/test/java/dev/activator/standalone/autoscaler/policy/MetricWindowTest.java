package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MetricWindowTest {
  private final MetricWindow six = new MetricWindow(6, false);
  private final MetricWindow sixty = new MetricWindow(60, false);

  private static void fill(MetricWindow window, int from, int to, double value) {
    for (int second = from; second <= to; second++) {
      window.record(second, value);
    }
  }

  /** Reports as {@code second=load} or {@code first-last=load}, and averages as {@code second:load}. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {
      "the first second counts in full        | 60   | 7=100               | 7:100",
      "reports of one second add up           | 60   | 7=100 7=20          | 7:120",
      "silence after the last report is no 0  | 60   | 0-9=30              | 19:30",
      "a second between two reports is 0      | 60   | 0-9=30 20=30        | 20:15.714286",
      "silence lets seconds slide out         | 60   | 0-9=100 10=0        | 10:90.909091 50:90.909091 60:90 66:75 68:50 69:0",
      "a load stays for a window              | 60   | 0-9=100 10-68=0     | 68:1.666667",
      "and is gone a second later             | 60   | 0-9=100 10-69=0     | 69:0",
      "the seventh decimal is rounded away    | 60   | 0-10=50.0000004     | 10:50",
      "the sixth stays                        | 60   | 0-10=50.000001      | 10:50.000001",
      "a short request vanishes in an hour    | 3600 | 0-3598=0 3599=0.001 | 3599:0",
      "a report of the future waits           | 6    | 100=6 103=6         | 100:3 102:3",
      "and counts when its time has come      | 6    | 100=6 103=6 101=3   | 103:3.75 104:3.75"})
  void averagesTheSecondsThatWereReported(String what, int seconds, String reports,
      String averages) {
    var window = new MetricWindow(seconds, false);
    for (var report : reports.split(" ")) {
      var parts = report.split("[-=]");
      fill(window, Integer.parseInt(parts[0]), Integer.parseInt(parts[parts.length - 2]),
          Double.parseDouble(parts[parts.length - 1]));
    }

    for (var average : averages.split(" ")) {
      var parts = average.split(":");
      assertThat(window.average(Integer.parseInt(parts[0]))).as(average)
          .isEqualTo(Double.parseDouble(parts[1]));
    }
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
  void aLongerWindowKeepsItsValuesAndCountsTheRestOfTheOldOneAsZero() {
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
