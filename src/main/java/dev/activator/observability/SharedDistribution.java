package dev.activator.observability;

import java.util.Objects;

/**
 * A distribution of what several threads measure, now and then.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 */
final class SharedDistribution {
  private final Distribution distribution;

  SharedDistribution(Metric metric) {
    this.distribution = new Distribution(Objects.requireNonNull(metric.buckets()));
  }

  synchronized void record(long nanos) {
    distribution.record(nanos);
  }

  void addTo(Point.Spread sum) {
    distribution.addTo(sum);
  }
}
