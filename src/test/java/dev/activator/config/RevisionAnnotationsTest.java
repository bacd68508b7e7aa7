package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.throttle.policy.ThrottlerOptions;
import java.util.ArrayList;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RevisionAnnotationsTest {

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"activator.dev/queue-capacity, 1", "activator.dev/queue-timeout, ' 1m30s '",
      "activator.dev/balancing, round-robin", "activator.dev/slow-start, off",
      "activator.dev/slow-start, 4", "activator.dev/probe, container",
      "activator.dev/readiness-path, /ready", "activator.dev/waiting-page, auto",
      "activator.dev/request-duration, 300ms", "activator.dev/fallback, anything",
      "example.com/queue-timout, 20s", "serving.knative.dev/creator, me"})
  void findsNothingWrong(String name, String value) {
    assertThat(RevisionAnnotations.problem(name, value)).isEmpty();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
      "queue-timout | 20s | no annotation of this name has an effect; the nearest is"
          + " \"activator.dev/queue-timeout\"",
      "something-quite-different-from-all | 1 | no annotation of this name has an effect",
      "queue-capacity | 0 | '0' is ignored: it must be a whole number of at least 1",
      "queue-capacity | many | 'many' is ignored: it must be a whole number of at least 1",
      "queue-timeout | 20 | '20' is ignored: it must be a positive duration, such as 20s or 1m30s",
      "balancing | random | 'random' is ignored: it must be choice-of-two, first-available or"
          + " round-robin",
      "slow-start | on | 'on' is ignored: it must be a whole number of at least 1, or off",
      "probe | pod | 'pod' is ignored: it must be container",
      "readiness-path | ready | 'ready' is ignored: it must be a path, such as /ready",
      "waiting-page | on | 'on' is ignored: it must be auto or off",
      "request-duration | 0s | '0s' is ignored: it must be a positive duration, such as 300ms or 5s"})
  void saysWhatIsWrong(String name, String value, String problem) {
    assertThat(RevisionAnnotations.problem("activator.dev/" + name, value)).contains(problem);
    assertThat(RevisionAnnotations.problemOfScaledService("activator.dev/" + name, value))
        .isPresent();
  }

  @ParameterizedTest
  @CsvSource({"activator.dev/probe, container", "activator.dev/readiness-path, /ready",
      "autoscaling.knative.dev/min-scale, 1"})
  void aScaledServiceHasNoUseForThese(String name, String value) {
    assertThat(RevisionAnnotations.problem(name, value)).isEmpty();
    assertThat(RevisionAnnotations.problemOfScaledService(name, value).orElse(""))
        .startsWith("has no effect on a ScaledService");
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"queue-capacity, 0", "queue-capacity, 7", "queue-capacity, +7", "queue-capacity, 7.5",
      "queue-capacity, 99999999999", "queue-timeout, 1h", "queue-timeout, -1s", "queue-timeout, 0",
      "queue-timeout, 1", "balancing, choice-of-two", "balancing, first-available",
      "balancing, Round-Robin", "slow-start, 0", "slow-start, off", "slow-start, 16",
      "waiting-page, on", "waiting-page, off", "waiting-page, auto"})
  void agreesWithWhatReadsThem(String name, String value) {
    var problems = new ArrayList<String>();

    ThrottlerOptions.of(1).with(Map.of("activator.dev/" + name, value), problems::add);

    assertThat(RevisionAnnotations.problem("activator.dev/" + name, value).isPresent())
        .isEqualTo(!problems.isEmpty());
  }
}
