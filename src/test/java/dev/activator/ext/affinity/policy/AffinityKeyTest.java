package dev.activator.ext.affinity.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import java.util.HashSet;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AffinityKeyTest {
  private static final List<Destination> TEN = IntStream.range(0, 10)
      .mapToObj(i -> new Destination("10.0.0." + i, 8012)).toList();

  @Test
  void theOrderOfPodsIsThatOfOtherVersions() {
    assertThat(IntStream.range(0, 12)
        .mapToObj(i -> AffinityKey.of("session-" + i).first(TEN).host().substring(7))
        .collect(Collectors.joining(" "))).isEqualTo("4 5 5 0 9 5 8 4 3 5 8 4");
  }

  @Test
  void keysAreDividedEvenly() {
    var counts = IntStream.range(0, 100_000)
        .mapToObj(i -> AffinityKey.of("session-" + i).first(TEN))
        .collect(Collectors.groupingBy(pod -> pod, Collectors.counting()));

    assertThat(counts).hasSize(10);
    assertThat(counts.values()).allSatisfy(count -> assertThat(count).isBetween(9_500L, 10_500L));
  }

  @Test
  void differentValuesAreDifferentKeys() {
    var keys = new HashSet<AffinityKey>();
    for (int i = 0; i < 200_000; i++) {
      keys.add(AffinityKey.of(Integer.toString(i)));
    }

    assertThat(keys).hasSize(200_000);
    assertThat(AffinityKey.of("a")).isNotEqualTo(AffinityKey.of("a\0"));
    assertThat(AffinityKey.of("a")).isEqualTo(AffinityKey.of("a"));
  }
}
