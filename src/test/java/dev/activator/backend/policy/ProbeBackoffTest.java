package dev.activator.backend.policy;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbeBackoffTest {
  private final ProbeBackoff backoff = new ProbeBackoff(ofMillis(200));

  @ParameterizedTest(name = "after {0}: {1}")
  @CsvSource({"PT0S, PT0.01S", "PT0.32S, PT0.01S", "PT0.64S, PT0.02S", "PT3.2S, PT0.1S",
      "PT6.4S, PT0.2S", "PT29.9S, PT0.2S", "PT30S, PT0.2S", "PT60S, PT0.4S", "PT150S, PT1S",
      "PT24H, PT1S"})
  void areAPartOfTheAgeUpToTheFrequencyAndLaterToASecond(Duration age, Duration pause) {
    assertThat(backoff.after(age, null)).isEqualTo(pause);
  }

  @ParameterizedTest(name = "after {0}: {1}")
  @CsvSource({"PT0S, PT0.001S", "PT0.128S, PT0.001S", "PT0.64S, PT0.005S", "PT1.28S, PT0.01S",
      "PT6.4S, PT0.05S",
      "PT25.6S, PT0.2S", "PT29.9S, PT0.2S", "PT60S, PT0.4S", "PT24H, PT1S"})
  void areShorterWhereAHostRefusesAndARequestWaits(Duration age, Duration pause) {
    assertThat(backoff.afterRefusal(age, null)).isEqualTo(pause);
  }

  /** Expected between 1.8 and 2.2 s. */
  @ParameterizedTest(name = "after {0}: {1}")
  @CsvSource({"PT0S, PT0.2S", "PT1.799S, PT0.001S", "PT1.8S, PT0.005S", "PT2.2S, PT0.005S",
      "PT2.56S, PT0.02S"})
  void areShorterAfterARefusalAlsoWhenThePodIsExpected(Duration age, Duration pause) {
    assertThat(backoff.afterRefusal(age, new DurationEstimate(ofSeconds(2), ofMillis(50))))
        .isEqualTo(pause);
  }

  /** Expected between 1.8 and 2.2 s. */
  @ParameterizedTest(name = "after {0}: {1} if its start is expected, else {2}")
  @CsvSource({"PT0S, PT0S, PT0.5S", "PT1.799S, PT0S, PT0.5S", "PT1.8S, PT0.4S, PT0.5S",
      "PT2.1S, PT0.1S, PT0.5S", "PT2.2S, PT0S, PT0.5S", "PT2.201S, PT0.5S, PT0.5S"})
  void areRepeatedAfterARefusalWhileThePauseHolds(Duration age, Duration expected,
      Duration unexpected) {
    var start = new DurationEstimate(ofSeconds(2), ofMillis(50));

    assertThat(backoff.repeatsAfterRefusal(age, start)).isEqualTo(expected);
    assertThat(backoff.repeatsAfterRefusal(age, null)).isEqualTo(unexpected);
  }

  @ParameterizedTest(name = "after {0}: {1}")
  @CsvSource({"PT0S, PT0.2S", "PT0.4S, PT0.2S", "PT1S, PT0.5S", "PT60S, PT30S", "PT24H, PT30S"})
  void growToHalfAMinuteWhileTheClusterIpServes(Duration age, Duration pause) {
    assertThat(backoff.viaClusterIp(age)).isEqualTo(pause);
  }

  @ParameterizedTest(name = "after {0}: {1}, {2}")
  @CsvSource({"PT59.9S, false, PT15S", "PT60S, true, PT15S", "PT100S, true, PT25S",
      "PT120S, true, PT30S", "PT24H, true, PT30S"})
  void areLongWhileNoRequestNeedsThePod(Duration unneeded, boolean isUnneeded, Duration pause) {
    assertThat(ProbeBackoff.isUnneeded(unneeded)).isEqualTo(isUnneeded);
    assertThat(backoff.unneeded(unneeded)).isEqualTo(pause);
  }

  @ParameterizedTest(name = "after {0}: {1}")
  @CsvSource({"PT0S, PT0.005S", "PT20S, PT0.005S", "PT24H, PT1S"})
  void neverPassAFrequencyBelowTheFirstPause(Duration age, Duration pause) {
    assertThat(new ProbeBackoff(ofMillis(5)).after(age, null)).isEqualTo(pause);
  }

  @Test
  void keepAFrequencyAboveASecond() {
    assertThat(new ProbeBackoff(ofSeconds(2)).after(Duration.ofDays(1), null))
        .isEqualTo(ofSeconds(2));
  }

  /** Expected between 1.8 and 2.2 s. */
  @ParameterizedTest(name = "after {0}: {1}")
  @CsvSource({"PT0S, PT0.2S", "PT1.5S, PT0.2S", "PT1.65S, PT0.15S", "PT1.799S, PT0.01S",
      "PT1.8S, PT0.01S", "PT2S, PT0.01S", "PT2.2S, PT0.01S", "PT2.24S, PT0.07S", "PT10S, PT0.2S"})
  void areShortWhenThePodIsExpected(Duration age, Duration pause) {
    assertThat(backoff.after(age, new DurationEstimate(ofSeconds(2), ofMillis(50))))
        .isEqualTo(pause);
  }

  @ParameterizedTest(name = "after {0}: {1}")
  @CsvSource({"PT0S, PT0.01S", "PT1.6S, PT0.05S", "PT4S, PT0.1S", "PT5S, PT0.1S",
      "PT6.4S, PT0.2S"})
  void areAsCoarseAsTheExpectation(Duration age, Duration pause) {
    assertThat(backoff.after(age, new DurationEstimate(ofSeconds(2), ofSeconds(1))))
        .isEqualTo(pause);
  }

  @ParameterizedTest(name = "{0} less {1}: {2}")
  @CsvSource({"PT0.2S, PT0.05S, PT0.15S", "PT0.2S, PT0.3S, PT0.01S", "PT0.01S, PT0.001S, PT0.01S",
      "PT0.005S, PT0.3S, PT0.005S"})
  void runFromTheBeginOfTheProbeBeforeButLeaveAGap(Duration pause, Duration took, Duration rest) {
    assertThat(backoff.rest(pause, took)).isEqualTo(rest);
  }
}
