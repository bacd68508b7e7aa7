package dev.activator.testing;

import dev.activator.observability.Meters;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;

/** What Prometheus reads of meters. */
public final class Scrape {
  private Scrape() {}

  /** The samples whose names begin like this. */
  public static List<String> of(Meters meters, String prefix) {
    var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    meters.register(registry.getPrometheusRegistry(), Labels.of("service.name", "activator"));
    return registry.scrape().lines().filter(line -> line.startsWith(prefix)).toList();
  }
}
