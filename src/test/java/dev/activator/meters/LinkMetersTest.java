package dev.activator.meters;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.Meters;
import dev.activator.stats.AutoscalerLink;
import dev.activator.testing.Scrape;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LinkMetersTest {
  private static final String REACHABLE = "kn_activator_stats_conn_reachable{peer=\"autoscaler\"} ";
  private static final String ERRORS = "kn_activator_stats_conn_errors_total{peer=\"autoscaler\"} ";
  private static final String FAILED_DIALS = "activator_stats_dial_failures_total ";

  private final Meters meters = new Meters();
  private final AutoscalerLink.Listener link = new ActivatorMeters(meters).link();

  @Test
  @DisplayName("there is no sample of reachable before the first connection")
  void saysNothingBeforeTheFirstConnection() {
    assertThat(Scrape.of(meters, "kn_activator")).containsExactly(ERRORS + "0.0");
  }

  @Test
  @DisplayName("an attempt that fails is no error of Knative's meter, which counts what is lost")
  void countsFailedAttemptsApart() {
    link.failed();
    link.failed();

    assertThat(Scrape.of(meters, "kn_activator")).containsExactly(ERRORS + "0.0");
    assertThat(Scrape.of(meters, "activator_stats")).containsExactly(FAILED_DIALS + "2.0");

    link.connected();
    link.lost();
    link.failed();
    assertThat(Scrape.of(meters, "kn_activator")).containsExactly(ERRORS + "1.0",
        REACHABLE + "0.0");
    assertThat(Scrape.of(meters, "activator_stats")).containsExactly(FAILED_DIALS + "3.0");
  }

  @Test
  @DisplayName("reachable is 1 while there is a connection, and 0 after it; errors count on")
  void followsTheConnection() {
    link.connected();
    assertThat(Scrape.of(meters, "kn_activator")).containsExactly(ERRORS + "0.0",
        REACHABLE + "1.0");

    link.lost();
    assertThat(Scrape.of(meters, "kn_activator")).containsExactly(ERRORS + "1.0",
        REACHABLE + "0.0");

    link.connected();
    assertThat(Scrape.of(meters, "kn_activator")).containsExactly(ERRORS + "1.0",
        REACHABLE + "1.0");
  }
}
