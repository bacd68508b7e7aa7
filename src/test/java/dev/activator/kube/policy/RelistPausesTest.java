package dev.activator.kube.policy;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.policy.Backoff;
import java.time.Duration;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RelistPausesTest {
  @ParameterizedTest(name = "after {0} failures {1} to {2} ms")
  @CsvSource({"0, 800, 1600", "1, 1600, 3200", "2, 3200, 6400", "5, 25600, 51200",
      "6, 30000, 60000", "1000, 30000, 60000"})
  void growsToAPointAndIsSpreadByChance(int failures, long least, long most) {
    var random = new Random(1);
    assertThat(
        IntStream.range(0, 1000).mapToObj(_ -> after(failures, RelistPauses.ofLists(random))))
        .allSatisfy(pause -> assertThat(pause).isBetween(ofMillis(least), ofMillis(most)));
  }

  private static Duration after(int failures, Backoff backoff) {
    for (int i = 0; i < failures; i++) {
      backoff.next();
    }
    return backoff.next();
  }

  @Test
  @DisplayName("fifty that lost one server come back over at least half of the interval")
  void manyDoNotComeBackAtOnce() {
    var pauses = IntStream.range(0, 50)
        .mapToObj(seed -> after(6, RelistPauses.ofLists(new Random(seed * 7919L)))).sorted()
        .toList();
    var spread = pauses.getLast().minus(pauses.getFirst());
    assertThat(spread).isGreaterThanOrEqualTo(ofSeconds(15));
  }

  @Test
  void beginsAgainOnceAllWasWell() {
    var backoff = RelistPauses.ofLists(new Random(1));
    after(5, backoff);
    backoff.reset();
    assertThat(backoff.next()).isBetween(ofMillis(800), ofMillis(1600));
  }

  @ParameterizedTest(name = "after {0} failures {1} to {2} ms")
  @CsvSource({"0, 200, 400", "1, 400, 800", "2, 800, 1600", "3, 1600, 3200", "8, 30000, 60000",
      "1000, 30000, 60000"})
  void watchesComeBackInLessThanHalfASecondAtFirst(int failures, long least, long most) {
    var random = new Random(1);
    assertThat(
        IntStream.range(0, 1000).mapToObj(_ -> after(failures, RelistPauses.ofWatches(random))))
        .allSatisfy(pause -> assertThat(pause).isBetween(ofMillis(least), ofMillis(most)));
  }

  @ParameterizedTest(name = "after {0} s {1} to {2} s")
  @CsvSource({"0, 2, 3", "24, 2, 3", "30, 2, 4", "60, 5, 8", "120, 10, 15", "240, 20, 30",
      "100000, 20, 30"})
  void sparesAServerWhoseWatchesDoNotLastForUpToThirtySeconds(long outage, long least,
      long most) {
    var random = new Random(1);
    assertThat(IntStream.range(0, 1000)
        .mapToObj(_ -> RelistPauses.ofFrequentLists(ofSeconds(outage), random)))
        .allSatisfy(pause -> assertThat(pause).isBetween(ofSeconds(least), ofSeconds(most)));
  }
}
