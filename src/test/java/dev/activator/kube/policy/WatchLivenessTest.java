package dev.activator.kube.policy;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.policy.WatchLiveness.Action;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WatchLivenessTest {
  @ParameterizedTest(name = "open {0} s ago, begun {1} s ago, news {2} s ago: {3}")
  @CsvSource({
      // an open watch that talks
      "0, 5000, 0, NONE", "0, 5000, 179, NONE",
      // an open watch that does not
      "0, 5000, 180, VERIFY", "59, 59, 999, VERIFY",
      // none open: an alarm, which a verification would only delay
      "60, 5000, 60, ALARM", "119, 5000, 999, ALARM",
      // for so long that the one there is is given up
      "120, 5000, 120, RESTART", "120, 120, 120, RESTART",
      // but not the one that was just begun
      "500, 119, 500, ALARM", "500, 120, 500, RESTART"})
  void choosesTheAction(long open, long restart, long news, Action action) {
    var liveness = new WatchLiveness(ofSeconds(open), ofSeconds(restart), ofSeconds(news));

    assertThat(liveness.action(ofSeconds(60), ofSeconds(180))).isEqualTo(action);
  }
}
