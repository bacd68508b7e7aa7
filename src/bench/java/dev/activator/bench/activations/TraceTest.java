package dev.activator.bench.activations;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceTest {
  private static final int REVISIONS = 1_000;

  @Test
  void isTheSameForTheSameSeed() {
    assertThat(Trace.of(7, REVISIONS, 100, 10)).isEqualTo(Trace.of(7, REVISIONS, 100, 10))
        .isNotEqualTo(Trace.of(8, REVISIONS, 100, 10));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void hasTheRateThatIsWanted(long seed) {
    assertThat(Trace.of(seed, REVISIONS, 200, 100)).hasSizeBetween(17_000, 24_000)
        .isSortedAccordingTo(Comparator.comparingLong(Trace.Arrival::nanos));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void fewRevisionsGetMostRequests(long seed) {
    var counts = new int[REVISIONS];
    var trace = Trace.of(seed, REVISIONS, 200, 100);
    trace.forEach(arrival -> counts[arrival.revision()]++);

    var sorted = Arrays.stream(counts).sorted().toArray();
    int ofATenth = Arrays.stream(sorted, REVISIONS - REVISIONS / 10, REVISIONS).sum();

    assertThat(ofATenth).isGreaterThan(trace.size() * 6 / 10);
    assertThat(sorted[0]).isLessThan(5);
  }

  @Test
  void everySecondRevisionGetsItsRequestsInBursts() {
    var trace = Trace.of(1, 2, 20, 1_000);

    assertThat(secondsWithRequests(trace, 1)).isLessThan(secondsWithRequests(trace, 0) / 2);
  }

  private static long secondsWithRequests(List<Trace.Arrival> trace, int revision) {
    return trace.stream().filter(arrival -> arrival.revision() == revision)
        .mapToLong(arrival -> arrival.nanos() / 1_000_000_000).distinct().count();
  }
}
