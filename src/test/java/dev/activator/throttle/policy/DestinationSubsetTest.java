package dev.activator.throttle.policy;

import static dev.activator.throttle.policy.DestinationSubset.UNLIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.throttle.policy.DestinationSubset.ActivatorIndex;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class DestinationSubsetTest {
  private static final RevisionId REVISION = new RevisionId("test-namespace", "test-revision");
  private static final Destination CLUSTER_IP = new Destination("129.0.0.1", 1234);

  @ParameterizedTest(name = "{0} {4} pods, cc {3}, {1} activators: {5}")
  @CsvSource({"TH-01, 0, 0, 10, 1, 10", "TH-02, 0, 0, 10, 10, 100", "TH-03, 0, 0, 10, 100, 1000",
      "TH-04, 5, 0, 10, 10, 20", "TH-05, 200, 0, 10, 10, 1", "TH-06, 200, 0, 10, 0, 0",
      "TH-07, 0, 0, 0, 0, 0", "TH-08, 0, 0, 0, 1, 2147483647", "TH-09, 0, 0, 0, 10, 2147483647",
      "TH-10, 200, 0, 0, 0, 0", "TH-11, 200, 0, 0, 1, 2147483647"})
  void capacityThroughTheServiceIsAnActivatorsPartOfAll(String number, int activators, int index,
      int cc, int pods, int expected) {
    var subset = DestinationSubset.of(new HealthyDestinations(REVISION, CLUSTER_IP, pods(pods)),
        new ActivatorIndex(index, activators), cc);

    assertThat(subset.capacity()).isEqualTo(expected);
    assertThat(subset.limit()).isEqualTo(expected);
    assertThat(subset.destinations())
        .isEqualTo(expected == 0 ? List.of() : List.of(CLUSTER_IP));
  }

  @ParameterizedTest(name = "{0} {4} pods, cc {3}, activator {2} of {1}: {5}")
  @CsvSource({"TH-12, 1, 0, 10, 1, 10", "TH-13, 1, 0, 10, 2, 20", "TH-14, 2, 0, 10, 2, 10",
      "TH-15, 2, 0, 10, 3, 20", "TH-16, 2, 1, 10, 3, 10", "TH-17, 2, 0, 1, 5, 3",
      "TH-18, 2, 1, 1, 5, 2", "TH-33, 4, 0, 42, 6, 84", "TH-34, 1, 0, 42, 0, 0"})
  void capacityOfPodsIsThatOfTheOwnShare(String number, int activators, int index, int cc,
      int pods, int expected) {
    var subset = DestinationSubset.of(HealthyDestinations.pods(REVISION, pods(pods)),
        new ActivatorIndex(index, activators), cc);

    assertThat(subset.capacity()).isEqualTo(expected);
    assertThat(subset.destinations()).hasSize(expected / cc);
    assertThat(subset.limit()).isEqualTo(expected == 0 ? 0 : cc);
  }

  @Test
  @DisplayName("without a limit every activator uses all pods")
  void withoutALimitEveryActivatorUsesAllPods() {
    var subset = DestinationSubset.of(HealthyDestinations.pods(REVISION, pods(3)),
        new ActivatorIndex(1, 2),
        0);

    assertThat(subset).isEqualTo(new DestinationSubset(pods(3).all(), UNLIMITED, UNLIMITED));
  }

  @Test
  @DisplayName("capacity is capped instead of overflowing")
  void capacityIsCappedInsteadOfOverflowing() {
    var half = Integer.MAX_VALUE / 2 + 1;

    assertThat(DestinationSubset.of(HealthyDestinations.pods(REVISION, pods(2)),
        ActivatorIndex.UNKNOWN, half))
        .isEqualTo(new DestinationSubset(pods(2).all(), half, UNLIMITED));
    assertThat(DestinationSubset.clusterIpCapacity(2, 1, half)).isEqualTo(UNLIMITED);
    assertThat(DestinationSubset.clusterIpCapacity(Integer.MAX_VALUE, 1, 0)).isEqualTo(UNLIMITED);
  }

  static Stream<Arguments> deals() {
    return Stream.of(deal(6, 4, "0,4", "1,5", "2", "3"), deal(10, 3, "0,1,2,9", "3,4,5", "6,7,8"),
        deal(11, 3, "0,1,2,9", "3,4,5,10", "6,7,8"),
        deal(20, 3, "0,1,2,3,4,5,18", "6,7,8,9,10,11,19", "12,13,14,15,16,17"),
        deal(24, 5, "0,1,2,3,20", "4,5,6,7,21", "8,9,10,11,22", "12,13,14,15,23", "16,17,18,19"),
        deal(3, 5, "0", "1", "2", "0", "1"), deal(1, 5, "0", "0", "0", "0", "0"),
        deal(1, 2, "0", "0"), deal(2, 3, "0", "1", "0"), deal(3, 3, "0", "1", "2"),
        deal(0, 2, "", ""), deal(3, 1, "0,1,2"), deal(3, 2, "0,2", "1"));
  }

  private static Arguments deal(int pods, int activators, String... shares) {
    return Arguments.of(pods, activators, List.of(shares));
  }

  @ParameterizedTest(name = "{0} pods among {1}")
  @MethodSource("deals")
  void podsAreDealtInBlocksAndTheRestOneEach(int pods, int activators, List<String> shares) {
    var all = positions(0, pods);
    for (int index = 0; index < activators; index++) {
      var mine = DestinationSubset.share(all, new ActivatorIndex(index, activators));

      assertThat(mine.stream().map(String::valueOf).toList())
          .isEqualTo(Stream.of(shares.get(index).split(",")).filter(it -> !it.isEmpty()).toList());
    }
  }

  @Test
  @DisplayName("many pods are dealt in large blocks")
  void manyPodsAreDealtInLargeBlocks() {
    var all = positions(0, 150);

    assertThat(DestinationSubset.share(all, new ActivatorIndex(0, 5))).isEqualTo(positions(0, 30));
    assertThat(DestinationSubset.share(all, new ActivatorIndex(1, 5))).isEqualTo(positions(30, 60));
    assertThat(DestinationSubset.share(all, new ActivatorIndex(4, 5)))
        .isEqualTo(positions(120, 150));
  }

  @Test
  @DisplayName("an activator that does not know its index uses all pods")
  void anActivatorThatDoesNotKnowItsIndexUsesAllPods() {
    assertThat(DestinationSubset.share(positions(0, 3), ActivatorIndex.UNKNOWN))
        .isEqualTo(positions(0, 3));
  }

  @Test
  void theActivatorsTogetherUseEveryPodOnceWhenThereAreEnough() {
    for (int pods = 1; pods <= 40; pods++) {
      for (int activators = 1; activators <= pods; activators++) {
        int count = activators;
        var all = positions(0, pods);

        assertThat(IntStream.range(0, count).boxed()
            .flatMap(i -> DestinationSubset.share(all, new ActivatorIndex(i, count)).stream()))
            .containsExactlyInAnyOrderElementsOf(all);
      }
    }
  }

  private static List<Integer> positions(int from, int to) {
    return IntStream.range(from, to).boxed().toList();
  }

  private static DestinationSet pods(int count) {
    return DestinationSet
        .of(IntStream.range(0, count).mapToObj(i -> new Destination("ip" + i, 8080)).toList());
  }
}
