package dev.activator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.lifecycle.ActivatorHealth.AutoscalerReadinessPolicy;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HealthTest {
  private static final String LINK = "connection has not yet been established";

  /** What became of the link so far. */
  enum Link {
    NEVER_UP,
    TIMED_OUT,
    UP,
    LOST,
    TIMED_OUT_THEN_LOST
  }

  @ParameterizedTest(name = "with the link {1} and needed {0}: {2}")
  @CsvSource(nullValues = "ready", value = {"STARTUP, NEVER_UP, " + LINK, "STARTUP, UP, ready",
      "STARTUP, TIMED_OUT, ready", "STARTUP, LOST, ready", "STARTUP, TIMED_OUT_THEN_LOST, ready",
      "ALWAYS, NEVER_UP, " + LINK, "ALWAYS, TIMED_OUT, " + LINK, "ALWAYS, UP, ready",
      "ALWAYS, LOST, " + LINK, "ALWAYS, TIMED_OUT_THEN_LOST, " + LINK, "NEVER, NEVER_UP, ready",
      "NEVER, TIMED_OUT, ready", "NEVER, UP, ready", "NEVER, LOST, ready"})
  void decidesWhetherRequestsMayCome(AutoscalerReadinessPolicy need, Link link, String message) {
    var state = new ActivatorHealth(need);
    if (link == Link.TIMED_OUT || link == Link.TIMED_OUT_THEN_LOST) {
      state.linkTimedOut();
    }
    if (link == Link.UP || link == Link.LOST || link == Link.TIMED_OUT_THEN_LOST) {
      state.link(true);
    }
    if (link == Link.LOST || link == Link.TIMED_OUT_THEN_LOST) {
      state.link(false);
    }

    // before the informers have synced, never; then as the link is needed; in a drain, never
    assertThat(state.readiness())
        .isEqualTo(new Readiness.NotReady("the informers have not synced"));
    state.synced();
    assertThat(state.readiness())
        .isEqualTo(message == null ? new Readiness.Ready() : new Readiness.NotReady(message));
    assertThat(state.servesWithoutLink()).isEqualTo(message == null && link != Link.UP);
    state.draining();
    assertThat(state.readiness())
        .isEqualTo(new Readiness.NotReady("received SIGTERM from kubelet"));
    assertThat(state.servesWithoutLink()).isFalse();
  }

  @ParameterizedTest(name = "a drain is what is said first, with the link needed {0}")
  @CsvSource({"STARTUP", "ALWAYS", "NEVER"})
  void aDrainIsWhatIsSaidFirst(AutoscalerReadinessPolicy need) {
    var state = new ActivatorHealth(need);
    state.draining();

    assertThat(state.readiness())
        .isEqualTo(new Readiness.NotReady("received SIGTERM from kubelet"));
  }
}
