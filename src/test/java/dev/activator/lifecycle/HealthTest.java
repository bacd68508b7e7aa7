package dev.activator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HealthTest {
  private static final String LINK = "connection has not yet been established";

  @ParameterizedTest(name = "synced {0}, linked {1}, ever {2}, draining {3}, needed {4}: {5}")
  @CsvSource(nullValues = "ready", value = {
      "false, true,  true,  false, NEVER,   the informers have not synced",
      "true,  false, false, false, STARTUP, " + LINK,
      "true,  true,  true,  false, STARTUP, ready",
      "true,  false, true,  false, STARTUP, ready",
      "true,  false, true,  false, ALWAYS,  " + LINK,
      "true,  true,  true,  false, ALWAYS,  ready",
      "true,  false, false, false, NEVER,   ready",
      "true,  true,  true,  true,  NEVER,   received SIGTERM from kubelet",
      "false, false, false, true,  ALWAYS,  received SIGTERM from kubelet"})
  void decidesWhetherRequestsMayCome(boolean synced, boolean linked, boolean everLinked,
      boolean draining, LinkNeed need, String message) {
    var readiness = new Health(synced, linked, everLinked, draining).readiness(need);

    assertThat(readiness).isEqualTo(
        message == null ? new Readiness.Ready() : new Readiness.NotReady(message));
  }

  @ParameterizedTest
  @CsvSource("STARTUP")
  void remembersThatTheLinkWasUp(LinkNeed need) {
    var state = new HealthState(need);
    state.synced();
    state.link(true);
    state.link(false);

    assertThat(state.readiness()).isEqualTo(new Readiness.Ready());
  }
}
