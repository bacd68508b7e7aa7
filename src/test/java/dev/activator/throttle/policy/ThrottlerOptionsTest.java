package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ThrottlerOptionsTest {
  private final ThrottlerOptions defaults = new ThrottlerOptions(10_000, ThrottlerOptions.NO_BOUND,
      WaitLimits.NONE, null, 16);
  private final List<String> problems = new ArrayList<>();

  private ThrottlerOptions with(Map<String, String> annotations) {
    return defaults.with(annotations, problems::add);
  }

  @Test
  void isTheDefaultWithoutAnnotations() {
    assertThat(with(Map.of("serving.knative.dev/creator", "me"))).isEqualTo(defaults);
    assertThat(ThrottlerOptions.of(10_000)).isEqualTo(defaults);
    assertThat(problems).isEmpty();
  }

  @Test
  void followsAnnotations() {
    var options = with(Map.of("activator.dev/queue-capacity", "50", "activator.dev/queue-timeout",
        "1m30s", "activator.dev/start-timeout", "5m", "activator.dev/balancing", "round-robin",
        "activator.dev/slow-start", "4"));

    assertThat(options)
        .isEqualTo(new ThrottlerOptions(50, 50,
            new WaitLimits(Duration.ofSeconds(90), Duration.ofMinutes(5)), Balancer.ROUND_ROBIN,
            4));
    assertThat(problems).isEmpty();
  }

  @Test
  void theTimeoutOfARevisionWinsOverThatOfTheActivator() {
    var options = ThrottlerOptions.of(1,
        new WaitLimits(Duration.ofSeconds(30), Duration.ofSeconds(50)));

    assertThat(options.with(Map.of(), problems::add).waits())
        .isEqualTo(new WaitLimits(Duration.ofSeconds(30), Duration.ofSeconds(50)));
    assertThat(options.with(Map.of("activator.dev/queue-timeout", "2m"), problems::add).waits())
        .isEqualTo(new WaitLimits(Duration.ofMinutes(2), Duration.ofSeconds(50)));
    assertThat(options.with(Map.of("activator.dev/start-timeout", "2m"), problems::add).waits())
        .isEqualTo(new WaitLimits(Duration.ofSeconds(30), Duration.ofMinutes(2)));
  }

  @Test
  void hasAQueueOfOneAtLeast() {
    assertThat(with(Map.of("activator.dev/queue-capacity", "1")).queueCapacity()).isOne();
  }

  @ParameterizedTest(name = "{0}, {1} queued elsewhere: {2}")
  @CsvSource({", 0, 10000", ", 9999, 10000", ", 2000000000, 10000", "3, 0, 3", "3, 2, 1",
      "3, 3, 0", "3, 5, 0", "20000, 5000, 15000", "20000, 30000, 0"})
  void countsTheQueuesOfOtherActivators_ifTheRevisionHasItsOwnBound(String annotation,
      int elsewhere, int bound) {
    var options = with(
        annotation == null ? Map.of() : Map.of("activator.dev/queue-capacity", annotation));

    assertThat(options.queueBound(elsewhere)).isEqualTo(bound);
  }

  @Test
  void hasNoSlowStartWhereThatIsOff() {
    assertThat(with(Map.of("activator.dev/slow-start", "off")).slowStart()).isZero();
  }

  @ParameterizedTest(name = "{0}={1}")
  @CsvSource({"queue-capacity, 0, 'a whole number of at least 1'",
      "queue-capacity, many, 'a whole number of at least 1'",
      "queue-capacity, 99999999999, 'a whole number of at least 1'",
      "queue-timeout, 30, 'a positive duration'", "queue-timeout, 0s, 'a positive duration'",
      "queue-timeout, -1s, 'a positive duration'",
      "balancing, random, 'choice-of-two, first-available or round-robin'",
      "slow-start, on, 'a whole number of at least 1'"})
  void ignoresWhatMeansNothingAndSaysWhich(String name, String value, String problem) {
    var options = with(Map.of("activator.dev/" + name, value, "activator.dev/slow-starts", "7"));

    assertThat(options).isEqualTo(defaults);
    assertThat(problems).hasSize(1);
    assertThat(problems.getFirst()).startsWith("annotation activator.dev/" + name + ": '" + value)
        .contains(problem);
  }

  @Test
  void balancesByContainerConcurrency_unlessConfigured() {
    assertThat(defaults.balancer(2)).isEqualTo(Balancer.FIRST_AVAILABLE);
    assertThat(with(Map.of("activator.dev/balancing", "choice-of-two")).balancer(2))
        .isEqualTo(Balancer.CHOICE_OF_TWO);
  }
}
