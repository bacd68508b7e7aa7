package dev.activator.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SampleWindowTest {
  private static final Sample FIRST_REQUEST = new Sample("a", 1, 1);

  @Test
  void aSecondCountsTheHighestOfTheRegularReportsOfAReporter() {
    var window = SampleWindow.EMPTY.plus(0, new Sample("a", 20, 50))
        .plus(0, new Sample("a", 10, 50));

    assertThat(window.latest(1)).isEqualTo(20);
  }

  @Test
  void theAverageIsThatOfTheSixWholeSecondsBefore() {
    var window = SampleWindow.EMPTY.plus(0, new Sample("a", 6, 50))
        .plus(5, new Sample("a", 12, 50)).plus(6, new Sample("a", 100, 50));

    assertThat(window.average(6)).isEqualTo(3);
    assertThat(window.average(7)).isEqualTo((12 + 100) / 6.0);
  }

  @Test
  void aReporterThatReportedASecondAgoReportsNoFirstRequest() {
    var window = SampleWindow.EMPTY.plus(0, new Sample("a", 2, 50)).plus(1, FIRST_REQUEST)
        .plus(1, new Sample("a", 4, 50));

    assertThat(window.latest(2)).isEqualTo(4);
  }

  @Test
  void whatAnotherReporterSaysMakesNoReportRegular() {
    var window = SampleWindow.EMPTY.plus(1, new Sample("b", 3, 50)).plus(1, FIRST_REQUEST)
        .plus(1, new Sample("a", 4, 50));

    assertThat(window.latest(2)).isEqualTo(3 + 1 + 4);
  }
}
