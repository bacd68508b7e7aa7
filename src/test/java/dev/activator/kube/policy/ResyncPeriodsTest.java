package dev.activator.kube.policy;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ResyncPeriodsTest {
  /** Periods asked for in a row, and what the first check and each of them come to in the end. */
  record Case(String name, ResyncPeriods first, List<Duration> asked, Duration check,
      List<Duration> effective) {
    @Override
    public String toString() {
      return "5.8 " + name;
    }
  }

  static Stream<Case> table() {
    var tenSeconds = ResyncPeriods.of(ofSeconds(10));
    return Stream.of(
        new Case("a smaller one before the start makes it look sooner", tenSeconds,
            List.of(ofSeconds(5)), ofSeconds(5), List.of(ofSeconds(5))),
        new Case("and a still smaller one leaves the first as it is", tenSeconds,
            List.of(ofSeconds(5), ofSeconds(2)), ofSeconds(2), List.of(ofSeconds(5), ofSeconds(2))),
        new Case("a smaller one while it runs is made as long as the check", tenSeconds.fixed(),
            List.of(ofSeconds(5)), ofSeconds(10), List.of(ofSeconds(10))),
        new Case("a longer one while it runs is kept", tenSeconds.fixed(), List.of(ofSeconds(15)),
            ofSeconds(10), List.of(ofSeconds(15))),
        new Case("less than a second is a second", tenSeconds, List.of(ofMillis(200)), ofSeconds(1),
            List.of(ofSeconds(1))),
        new Case("without a check there is never one", ResyncPeriods.of(ZERO),
            List.of(ofSeconds(5)), ZERO, List.of(ZERO)),
        new Case("who does not ask gets none", tenSeconds, List.of(ZERO), ofSeconds(10),
            List.of(ZERO)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("table")
  void turnsRequestedPeriodsIntoThoseThatHappen(Case given) {
    var periods = given.first();
    for (var period : given.asked()) {
      periods = periods.with(period);
    }

    assertThat(periods.check()).isEqualTo(given.check());
    assertThat(given.asked()).map(periods::effective).isEqualTo(given.effective());
  }

  @Test
  void refusesATimeThatRunsBackwards() {
    assertThatThrownBy(() -> ResyncPeriods.of(ZERO).with(ofSeconds(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("A resync period of PT-1S is negative");
  }

  @Test
  void keepsItsCheckOnceTheInformerRuns() {
    assertThat(ResyncPeriods.of(ofSeconds(10)).fixed().with(ofSeconds(5)).check())
        .isEqualTo(ofSeconds(10));
  }
}
