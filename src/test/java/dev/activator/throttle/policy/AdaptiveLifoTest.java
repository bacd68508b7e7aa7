package dev.activator.throttle.policy;

import static dev.activator.throttle.policy.AdaptiveLifo.BY_ARRIVAL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class AdaptiveLifoTest {
  /** A caller that is served or leaves: {@code left} after being queued and running this long. */
  private record Caller(boolean left, long queuedMillis, long ranMillis, int times) {}

  private static Caller served(int times, long queuedMillis, long ranMillis) {
    return new Caller(false, queuedMillis, ranMillis, times);
  }

  private static Caller left(int times, long queuedMillis, long ranMillis) {
    return new Caller(true, queuedMillis, ranMillis, times);
  }

  private static long nanos(long millis) {
    return Duration.ofMillis(millis).toNanos();
  }

  /** What is known after these, one every ten milliseconds. */
  private static AdaptiveLifo after(Caller... callers) {
    var order = BY_ARRIVAL;
    long now = 0;
    for (var caller : callers) {
      for (int i = 0; i < caller.times; i++) {
        now += nanos(10);
        long queued = nanos(caller.queuedMillis);
        long ran = nanos(caller.ranMillis);
        order = caller.left ? order.left(queued, ran, now) : order.served(queued, ran);
      }
    }
    return order;
  }

  private static Arguments row(String why, boolean newestFirst, Caller... callers) {
    return arguments(why, Arrays.asList(callers), newestFirst);
  }

  static Stream<Arguments> rows() {
    return Stream.of(
        row("nobody came", false),
        row("all are served, however late", false, served(100, 60_000, 500)),
        row("one leaves", false, left(1, 1_000, 0)),
        row("two leave", false, left(2, 1_000, 0)),
        row("three leave", true, left(3, 1_000, 0)),
        row("three leave after many were served", true, served(100, 900, 500), left(3, 1_000, 0)),
        row("two of twenty leave", false, left(1, 1_000, 0), served(18, 900, 500),
            left(1, 1_000, 0), served(18, 900, 500), left(1, 1_000, 0)),
        row("some leave while their requests run, having been queued for longer", true,
            left(3, 700, 300)),
        row("some leave while their requests run, and were hardly queued", false,
            left(50, 300, 700)),
        row("some leave a queue that was short", false, left(50, 99, 0)),
        row("those served without a standing queue make up for none", true, left(2, 1_000, 0),
            served(100, 50, 500), left(1, 1_000, 0)),
        row("many are served again", true, left(3, 1_000, 0), served(50, 200, 500)));
  }

  @ParameterizedTest(name = "{0}: {2}")
  @MethodSource("rows")
  void isNewestFirstOnceCallersLeaveAStandingQueue(String why, java.util.List<Caller> callers,
      boolean newestFirst) {
    assertThat(after(callers.toArray(Caller[]::new)).newestFirst()).isEqualTo(newestFirst);
  }

  @Test
  void isByArrivalAgainOnceNoCallerHasLeftForTwiceTheUsualPatience() {
    // the last left at 30 ms, having waited for 2 s
    var order = after(left(3, 2_000, 0));

    assertThat(order.at(nanos(4_029)).newestFirst()).isTrue();
    assertThat(order.at(nanos(4_030)).newestFirst()).isFalse();
    // and what was before does not count any more
    assertThat(order.at(nanos(4_030)).left(nanos(2_000), 0, nanos(4_031)).newestFirst()).isFalse();
  }

  @Test
  void doesNotCountCallersThatLeftLongAgo() {
    var order = after(left(2, 1_000, 0));

    assertThat(order.left(nanos(1_000), 0, nanos(2_019)).newestFirst()).isTrue();
    assertThat(order.left(nanos(1_000), 0, nanos(2_020)).newestFirst()).isFalse();
  }

  @Test
  void knowsTheShareOfThoseThatLeave() {
    assertThat(after(left(100, 1_000, 0)).leftShare()).isBetween(0.99, 1.0);
    assertThat(after(left(100, 1_000, 0), served(100, 200, 500)).leftShare()).isBetween(0.0, 0.01);
  }

  @Test
  void isNewestFirstForASecondAtLeast() {
    var order = after(left(3, 100, 0));

    assertThat(order.at(nanos(1_029)).newestFirst()).isTrue();
    assertThat(order.at(nanos(1_030)).newestFirst()).isFalse();
  }

  @Test
  void comesBackHoweverManyAreServedMeanwhile() {
    var order = after(left(3, 1_000, 0), served(20_000, 200, 1));

    assertThat(order.at(nanos(10_000)).newestFirst()).isFalse();
  }

  @Test
  void requestsThatArriveAfterTheChangeOvertake() {
    var order = after(left(3, 1_000, 0));

    assertThat(order.overtakes(nanos(31))).isTrue();
    assertThat(order.overtakes(nanos(30))).isFalse();
    assertThat(after(left(2, 1_000, 0)).overtakes(nanos(31))).isFalse();
  }

  @Test
  void keepsTheTimeOfTheFirstChangeWhileCallersLeave() {
    var order = after(left(30, 1_000, 0));

    assertThat(order.overtakes(nanos(31))).isTrue();
  }

  @Test
  void knowsWhichRequestsAreTooLateToBeServed() {
    var order = after(served(1, 200, 500), left(3, 1_000, 0));

    assertThat(order.isInTime(nanos(500))).isTrue();
    assertThat(order.isInTime(nanos(501))).isFalse();
  }

  @Test
  void countsTheRunOfOneThatLeftAsPatience() {
    assertThat(after(left(1, 700, 300)).patienceNanos()).isEqualTo(nanos(1_000));
  }

  @Test
  void learnsFromRequestsQueuedForATenthOfASecondOrMore() {
    assertThat(BY_ARRIVAL.leftDuringStart(nanos(99))).isEqualTo(BY_ARRIVAL);
    assertThat(BY_ARRIVAL.leftDuringStart(nanos(100)).patienceNanos()).isEqualTo(nanos(100));
    assertThat(BY_ARRIVAL.served(nanos(99), nanos(500))).isEqualTo(BY_ARRIVAL);
    assertThat(BY_ARRIVAL.served(nanos(100), nanos(500)).serviceNanos()).isEqualTo(nanos(500));
  }

  @Test
  void changesAnEstimateByASixteenthAtOnce() {
    assertThat(after(served(1, 200, 1_600), served(1, 200, 1_650)).serviceNanos())
        .isEqualTo(nanos(1_650));
    assertThat(after(served(1, 200, 1_600), served(1, 200, 9_999)).serviceNanos())
        .isEqualTo(nanos(1_700));
    assertThat(after(served(1, 200, 1_600), served(1, 200, 1)).serviceNanos())
        .isEqualTo(nanos(1_500));
  }

  @Test
  void allAreInTimeBeforeACallerHasLeft() {
    assertThat(after(served(9, 200, 500)).isInTime(nanos(3_600_000))).isTrue();
  }

  @Test
  @DisplayName("learns patience while a revision starts, but keeps the order")
  void learnsPatienceWhileARevisionStarts() {
    var order = BY_ARRIVAL;
    for (int i = 0; i < 50; i++) {
      order = order.leftDuringStart(nanos(2_000));
    }

    assertThat(order.newestFirst()).isFalse();
    assertThat(order.isInTime(nanos(2_000))).isTrue();
    assertThat(order.isInTime(nanos(2_001))).isFalse();
  }

  @Test
  void oneOutlierChangesLittle() {
    var order = after(left(10, 1_600, 0), left(1, 300_000, 0), left(1, 100, 0));

    assertThat(Duration.ofNanos(order.patienceNanos())).isBetween(Duration.ofMillis(1_590),
        Duration.ofMillis(1_610));
  }
}
