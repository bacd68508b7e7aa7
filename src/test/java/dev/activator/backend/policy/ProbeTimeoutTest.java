package dev.activator.backend.policy;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbeTimeoutTest {
  @Test
  void isTheLongestUntilARoundTripIsKnown() {
    assertThat(ProbeTimeout.of(ofSeconds(2)).next()).isEqualTo(ofSeconds(2));
    assertThat(ProbeTimeout.of(ofSeconds(2)).timedOut().next()).isEqualTo(ofSeconds(2));
  }

  @ParameterizedTest(name = "a round trip of {0}: {1}")
  @CsvSource({"PT0.001S, PT0.3S", "PT0.1S, PT0.3S", "PT0.2S, PT0.6S", "PT1S, PT2S"})
  void isThreeTimesTheFirstRoundTripWithinItsBounds(Duration took, Duration timeout) {
    assertThat(ProbeTimeout.of(ofSeconds(2)).answered(took).next()).isEqualTo(timeout);
  }

  @Test
  void doublesWithEachMissAndIsItselfAgainAfterAnAnswer() {
    var known = ProbeTimeout.of(ofSeconds(2)).answered(ofMillis(200));

    assertThat(known.timedOut().next()).isEqualTo(ofMillis(1200));
    assertThat(known.timedOut().timedOut().next()).isEqualTo(ofSeconds(2));
    // the second of 200: the deviation shrinks from 100 to 75, and 200 + 4 * 75 is 500
    assertThat(known.timedOut().timedOut().answered(ofMillis(200)).next()).isEqualTo(ofMillis(500));
  }

  @Test
  void neverExceedsAShortLimit() {
    var strict = ProbeTimeout.of(ofMillis(100)).answered(ofMillis(50));

    assertThat(strict.next()).isEqualTo(ofMillis(100));
  }

  @Test
  void staysBoundedWhenNothingAnswersAgain() {
    var timeout = ProbeTimeout.of(ofSeconds(2)).answered(ofMillis(1));
    for (int i = 0; i < 100; i++) {
      timeout = timeout.timedOut();
    }

    assertThat(timeout.next()).isEqualTo(ofSeconds(2));
  }
}
