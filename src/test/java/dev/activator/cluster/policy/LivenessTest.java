package dev.activator.cluster.policy;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.policy.Liveness.Verdict;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LivenessTest {
  @ParameterizedTest(name = "open {0} s ago, begun {1} s ago, news {2} s ago: {3}")
  @CsvSource({
      // an open watch that talks
      "0, 5000, 0, FINE", "0, 5000, 179, FINE",
      // an open watch that does not
      "0, 5000, 180, DOUBTED", "59, 59, 999, DOUBTED",
      // none open: an alarm, which a doubt would only delay
      "60, 5000, 60, ALARMING", "119, 5000, 999, ALARMING",
      // for so long that the one there is is given up
      "120, 5000, 120, HOPELESS", "120, 120, 120, HOPELESS",
      // but not the one that was just begun
      "500, 119, 500, ALARMING", "500, 120, 500, HOPELESS"})
  void judges(long open, long restart, long news, Verdict verdict) {
    var liveness = new Liveness(ofSeconds(open), ofSeconds(restart), ofSeconds(news));

    assertThat(liveness.verdict(ofSeconds(60), ofSeconds(180))).isEqualTo(verdict);
  }
}
