package dev.activator.throttle.policy;

import static dev.activator.throttle.policy.Balancer.CHOICE_OF_TWO;
import static dev.activator.throttle.policy.Balancer.FIRST_AVAILABLE;
import static dev.activator.throttle.policy.Balancer.NONE;
import static dev.activator.throttle.policy.Balancer.ROUND_ROBIN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BalancerTest {
  private final Random random = new Random(1);

  /** Destinations as a balancer sees them; permits are taken and released by position. */
  private final class Pods implements Balancer.Loads {
    private final int[] inFlight;
    private final int limit;
    private int size;
    private int cursor;

    Pods(int size, int limit) {
      this.inFlight = new int[size];
      this.limit = limit;
      this.size = size;
    }

    int pick(Balancer balancer) {
      int position = balancer.pick(this, cursor, random);
      if (position != NONE) {
        inFlight[position]++;
        cursor = balancer.cursorAfter(position, cursor);
      }
      return position;
    }

    @Override
    public int size() {
      return size;
    }

    @Override
    public int inFlight(int position) {
      return inFlight[position];
    }

    @Override
    public boolean hasRoom(int position) {
      return inFlight[position] < limit;
    }
  }

  @ParameterizedTest(name = "cc {0}: {1}")
  @CsvSource({"0, CHOICE_OF_TWO", "1, FIRST_AVAILABLE", "2, FIRST_AVAILABLE", "3, FIRST_AVAILABLE",
      "4, ROUND_ROBIN", "100, ROUND_ROBIN"})
  void dependsOnContainerConcurrency(int concurrency, Balancer expected) {
    assertThat(Balancer.of(concurrency)).isEqualTo(expected);
  }

  @Test
  @DisplayName("refuses a negative concurrency")
  void refusesANegativeConcurrency() {
    assertThatThrownBy(() -> Balancer.of(-1)).hasMessageContaining("-1");
  }

  @Test
  @DisplayName("nothing is next where there is nothing")
  void picksNone_whenThereAreNoPods() {
    for (var balancer : Balancer.values()) {
      assertThat(new Pods(0, 1).pick(balancer)).isEqualTo(NONE);
      assertThat(new Pods(0, DestinationSubset.UNLIMITED).pick(balancer)).isEqualTo(NONE);
    }
  }

  @Test
  @DisplayName("choice of two gives both idle pods some")
  void choiceOfTwoGivesBothIdlePodsSome() {
    var pods = new Pods(2, DestinationSubset.UNLIMITED);
    int[] picked = new int[2];
    for (int i = 0; i < 100; i++) {
      int position = pods.pick(CHOICE_OF_TWO);
      pods.inFlight[position]--;
      picked[position]++;
    }

    assertThat(picked[0]).isBetween(1, 99);
    assertThat(picked[0] + picked[1]).isEqualTo(100);
  }

  @Test
  @DisplayName("choice of two uses the only pod however loaded")
  void choiceOfTwoUsesTheOnlyPodHoweverLoaded() {
    var pods = new Pods(1, DestinationSubset.UNLIMITED);

    assertThat(pods.pick(CHOICE_OF_TWO)).isZero();
    assertThat(pods.pick(CHOICE_OF_TWO)).isZero();
    assertThat(pods.inFlight[0]).isEqualTo(2);
  }

  @ParameterizedTest(name = "of {0} pods")
  @CsvSource({"2", "3", "4", "17"})
  void choiceOfTwoNeverPicksTheOneLoadedPod(int size) {
    var pods = new Pods(size, DestinationSubset.UNLIMITED);
    int loaded = pods.pick(CHOICE_OF_TWO);
    for (int i = 0; i < 100; i++) {
      int other = pods.pick(CHOICE_OF_TWO);

      assertThat(other).isNotEqualTo(loaded);
      assertThat(pods.inFlight[other]).isOne();
      pods.inFlight[other]--;
    }
  }

  @Test
  void choiceOfTwoIsFairAmongEquals() {
    var pods = new Pods(5, DestinationSubset.UNLIMITED);
    int[] picked = new int[5];
    for (int i = 0; i < 10_000; i++) {
      int position = pods.pick(CHOICE_OF_TWO);
      pods.inFlight[position]--;
      picked[position]++;
    }

    // 2,000 each on average; a standard deviation is 40
    assertThat(Arrays.stream(picked)).allMatch(count -> count > 1_800 && count < 2_200);
  }

  @Test
  void choiceOfTwoPassesOverAPodThatTakesNoMore() {
    var pods = new Pods(2, DestinationSubset.UNLIMITED);
    pods.inFlight[0] = DestinationSubset.UNLIMITED;

    for (int i = 0; i < 20; i++) {
      assertThat(pods.pick(CHOICE_OF_TWO)).isOne();
    }
    pods.inFlight[1] = DestinationSubset.UNLIMITED;
    assertThat(pods.pick(CHOICE_OF_TWO)).isEqualTo(NONE);
  }

  @Test
  @DisplayName("first available has no next when the only pod is full")
  void firstAvailableHasNoNextWhenTheOnlyPodIsFull() {
    var pods = new Pods(1, 1);

    assertThat(pods.pick(FIRST_AVAILABLE)).isZero();
    assertThat(pods.pick(FIRST_AVAILABLE)).isEqualTo(NONE);
  }

  @Test
  @DisplayName("first available fills pods in order")
  void firstAvailableFillsPodsInOrder() {
    var pods = new Pods(2, 1);

    assertThat(pods.pick(FIRST_AVAILABLE)).isZero();
    assertThat(pods.pick(FIRST_AVAILABLE)).isOne();
    assertThat(pods.pick(FIRST_AVAILABLE)).isEqualTo(NONE);
  }

  @Test
  @DisplayName("round robin with one permit each skips full pods")
  void roundRobinWithOnePermitEachSkipsFullPods() {
    var pods = new Pods(3, 1);

    assertThat(pods.pick(ROUND_ROBIN)).isZero();
    assertThat(pods.pick(ROUND_ROBIN)).isOne();
    pods.size = 1;
    assertThat(pods.pick(ROUND_ROBIN)).isEqualTo(NONE);
    pods.size = 3;
    assertThat(pods.pick(ROUND_ROBIN)).isEqualTo(2);
    assertThat(pods.pick(ROUND_ROBIN)).isEqualTo(NONE);
    pods.inFlight[2]--;
    assertThat(pods.pick(ROUND_ROBIN)).isEqualTo(2);
  }

  @Test
  @DisplayName("round robin goes on behind the last pick")
  void roundRobinGoesOnBehindTheLastPick() {
    var pods = new Pods(3, 2);

    assertThat(pods.pick(ROUND_ROBIN)).isZero();
    assertThat(pods.pick(ROUND_ROBIN)).isOne();
    pods.size = 1;
    assertThat(pods.pick(ROUND_ROBIN)).isZero();
    pods.size = 3;
    assertThat(pods.pick(ROUND_ROBIN)).isOne();
    assertThat(pods.pick(ROUND_ROBIN)).isEqualTo(2);
    assertThat(pods.pick(ROUND_ROBIN)).isEqualTo(2);
  }

  @Test
  void onlyRoundRobinMovesTheCursor() {
    assertThat(ROUND_ROBIN.cursorAfter(4, 2)).isEqualTo(5);
    assertThat(FIRST_AVAILABLE.cursorAfter(4, 2)).isEqualTo(2);
    assertThat(CHOICE_OF_TWO.cursorAfter(4, 2)).isEqualTo(2);
  }
}
