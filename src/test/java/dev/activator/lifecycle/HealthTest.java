package dev.activator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HealthTest {
  private static final String LINK = "connection has not yet been established";

  /** What became of the link so far. */
  enum Link {
    NEVER_UP, UP, LOST
  }

  @ParameterizedTest(name = "7.5 HH-05 HH-06 with the link {1} and needed {0}: {2}")
  @CsvSource(nullValues = "ready", value = {"STARTUP, NEVER_UP, " + LINK, "STARTUP, UP, ready",
      "STARTUP, LOST, ready", "ALWAYS, NEVER_UP, " + LINK, "ALWAYS, UP, ready",
      "ALWAYS, LOST, " + LINK, "NEVER, NEVER_UP, ready", "NEVER, UP, ready",
      "NEVER, LOST, ready"})
  void decidesWhetherRequestsMayCome(ReadinessPolicy need, Link link, String message) {
    var state = new HealthState(need);
    if (link != Link.NEVER_UP) {
      state.link(true);
    }
    if (link == Link.LOST) {
      state.link(false);
    }

    // before the informers have synced, never; then as the link is needed; in a drain, never
    assertThat(state.readiness())
        .isEqualTo(new Readiness.NotReady("the informers have not synced"));
    state.synced();
    assertThat(state.readiness())
        .isEqualTo(message == null ? new Readiness.Ready() : new Readiness.NotReady(message));
    state.draining();
    assertThat(state.readiness())
        .isEqualTo(new Readiness.NotReady("received SIGTERM from kubelet"));
  }

  @ParameterizedTest(name = "8.4 a drain is what is said first, with the link needed {0}")
  @CsvSource({"STARTUP", "ALWAYS", "NEVER"})
  void aDrainIsWhatIsSaidFirst(ReadinessPolicy need) {
    var state = new HealthState(need);
    state.draining();

    assertThat(state.readiness())
        .isEqualTo(new Readiness.NotReady("received SIGTERM from kubelet"));
  }
}
