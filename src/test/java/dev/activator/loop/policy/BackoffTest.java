package dev.activator.loop.policy;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BackoffTest {
  private final Random random = new Random(1);
  private final Backoff backoff = new Backoff(ofSeconds(5), Duration.ofMinutes(5), 0.5, random);

  @ParameterizedTest(name = "after {0} failures {1} to {2} s")
  @CsvSource({"0, 5, 8", "1, 10, 15", "5, 160, 240", "6, 300, 450", "100000, 300, 450"})
  void doublesUpToItsMaximum(int failures, long least, long most) {
    for (int i = 0; i < failures; i++) {
      backoff.next();
    }
    assertThat(backoff.next()).isBetween(ofSeconds(least), ofSeconds(most));
  }

  @Test
  void startsOverAfterAReset() {
    IntStream.range(0, 5).forEach(_ -> backoff.next());
    backoff.reset();

    assertThat(backoff.next()).isBetween(ofSeconds(5), ofMillis(7_500));
  }

  @ParameterizedTest(name = "{0} s becomes {1} to {2} s")
  @CsvSource({"0, 5, 8", "3, 5, 8", "30, 30, 45", "999999, 300, 450"})
  void waitsAtLeastAsLongAsRetryAfterSays_andFiveMinutesAtMost(long asked, long least, long most) {
    assertThat(backoff.next(ofSeconds(asked))).isBetween(ofSeconds(least), ofSeconds(most));
  }

  @Test
  void clientsWithTheSameRetryAfterReturnAtDifferentTimes() {
    var pauses = IntStream.range(0, 50)
        .mapToObj(seed -> Backoff.retryAfter(ofSeconds(3), new Random(seed * 7919L))).sorted()
        .toList();

    assertThat(pauses.getFirst()).isGreaterThanOrEqualTo(ofSeconds(3));
    assertThat(pauses.getLast().minus(pauses.getFirst())).isGreaterThan(ofSeconds(1));
  }

  @Test
  void jittersAtATenthMoreOrLess() {
    assertThat(IntStream.range(0, 100)
        .mapToObj(_ -> Backoff.jittered(Duration.ofMinutes(10), 0.1, random)))
        .allSatisfy(pause -> assertThat(pause).isBetween(ofSeconds(540), ofSeconds(660)));
  }
}
