package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Times are seconds. */
class ReportCompletenessTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final Duration WINDOW = Duration.ofSeconds(60);
  private static final Duration TIMEOUT = Duration.ofSeconds(300);

  private final ReportCompleteness activators = new ReportCompleteness(0);

  private static long nanos(double seconds) {
    return Math.round(seconds * 1e9);
  }

  private void batch(String pod, double at, double uptime) {
    activators.batch(nanos(at), pod, OptionalDouble.of(uptime), Set.of());
  }

  private void batches(String pod, double from, double to) {
    for (double at = from; at <= to; at++) {
      batch(pod, at, 1_000 + at);
    }
  }

  private boolean complete(double at) {
    return activators.missing(nanos(at), WINDOW, TIMEOUT).isEmpty();
  }

  @Test
  void isComplete_whenAllHaveReportedForAWindow() {
    activators.members(0, Map.of("a", true, "b", true));
    batches("a", 0.4, 62);
    batches("b", 2, 62);

    assertThat(complete(61.9)).isFalse();
    assertThat(complete(62)).isTrue();
  }

  @Test
  void isNotCompleteWithoutTheLeaderItself() {
    activators.members(0, Map.of());
    assertThat(complete(1_000)).isFalse();

    batches("leader", 1_000, 1_060);
    assertThat(complete(1_059)).isFalse();
    assertThat(complete(1_060)).isTrue();
  }

  @Test
  void oneThatHasJustStartedDelaysNothing() {
    activators.members(0, Map.of("a", true, "c", true));
    batches("a", 0, 62);
    batch("c", 31, 2);
    batches("c", 32, 62);

    assertThat(complete(62)).isTrue();
  }

  @Test
  void oneThatStartedLongerAgoThanItMayBeSilentDelaysByAWindow() {
    activators.members(0, Map.of("c", true));
    batch("c", 31, 3.001);
    batches("c", 32, 90);
    assertThat(complete(90)).isFalse();

    var other = new ReportCompleteness(0);
    other.members(0, Map.of("c", true));
    other.batch(nanos(31), "c", OptionalDouble.of(3), Set.of());
    assertThat(other.missing(nanos(31), WINDOW, TIMEOUT)).isEmpty();
  }

  @Test
  void oneThatRanBeforeItReportedDelaysByAWindow() {
    activators.members(0, Map.of("a", true, "c", true));
    batches("a", 0, 91);
    batch("c", 31, 9);
    batches("c", 32, 91);

    assertThat(activators.missing(nanos(90.9), WINDOW, TIMEOUT)).containsExactly("c");
    assertThat(complete(91)).isTrue();
  }

  @Test
  void waitsForANewWindow_afterASilence() {
    activators.members(0, Map.of("a", true, "b", true));
    batches("a", 0, 105);
    batches("b", 0, 40);

    assertThat(activators.missing(nanos(43.1), WINDOW, TIMEOUT)).containsExactly("a", "b");
    batches("b", 44.5, 105);
    assertThat(complete(104.4)).isFalse();
    assertThat(complete(104.5)).isTrue();
  }

  @Test
  void noneIsComplete_whileTheEndpointsCannotBeRead() {
    batches("a", 0, 70);
    assertThat(complete(70)).isFalse();

    activators.members(0, Map.of("a", true));
    assertThat(complete(70)).isTrue();
    activators.membersUnknown();
    assertThat(complete(70)).isFalse();
  }

  @Test
  void oneThatIsNotReadyAndSilentCountsUntilItsRequestsHaveTimedOut() {
    activators.members(0, Map.of("a", true, "b", false));
    batches("b", 0, 100);
    batches("a", 0, 431);

    assertThat(activators.missing(nanos(429.9), WINDOW, TIMEOUT)).containsExactly("b");
    assertThat(complete(430)).isTrue();
  }

  @Test
  void oneThatIsReadyAndSilentCountsForEver() {
    activators.members(0, Map.of("a", true, "b", true));
    batches("a", 0, 10_000);

    assertThat(activators.missing(nanos(10_000), WINDOW, TIMEOUT)).containsExactly("b");
  }

  @Test
  void isQuietWhenNobodysNewestBatchHasARequest() {
    activators.batch(nanos(1), "a", OptionalDouble.of(1), Set.of(WEB));
    assertThat(activators.isQuiet(nanos(1.5), WEB)).isFalse();

    activators.batch(nanos(2), "a", OptionalDouble.of(2), Set.of());
    assertThat(activators.isQuiet(nanos(2.5), WEB)).isTrue();

    activators.busy("a", Set.of(WEB));
    assertThat(activators.isQuiet(nanos(2.6), WEB)).isFalse();
  }

  @Test
  void forgetsAnActivatorThatLeftAnHourAgo() {
    var hours = Duration.ofHours(10);
    batches("a", 0, 3_600);
    batch("left", 0, 1_000);
    activators.members(nanos(3_599), Map.of("a", true));
    activators.members(nanos(3_600), Map.of());
    assertThat(activators.missing(nanos(3_600), WINDOW, hours)).containsExactly("left");

    activators.members(nanos(3_601), Map.of("a", true));
    activators.members(nanos(3_601), Map.of());
    assertThat(activators.missing(nanos(3_601), WINDOW, hours)).isEmpty();
  }
}
