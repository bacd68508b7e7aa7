package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.Meters;
import dev.activator.testing.Scrape;
import org.junit.jupiter.api.Test;

class LendingMetersTest {
  private final Meters meters = new Meters();

  @Test
  void showsWhatIsLent() {
    LendingConfiguration.addLending(meters, new PermitLending("10.0.0.1"));

    assertThat(Scrape.of(meters, "activator_permits")).containsExactly(
        "activator_permits_borrowed 0.0",
        "activator_permits_granted_total{direction=\"borrowed\"} 0.0",
        "activator_permits_granted_total{direction=\"lent\"} 0.0", "activator_permits_lent 0.0",
        "activator_permits_recalls_total{direction=\"received\"} 0.0",
        "activator_permits_recalls_total{direction=\"sent\"} 0.0",
        "activator_permits_saved_seconds_total 0.0");
  }
}
