package dev.activator.observability.meter;

import java.util.Objects;

/**
 * A distribution of what several threads measure, now and then.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 */
public final class SharedDistribution {
  private final Distribution distribution;

  public SharedDistribution(Metric metric) {
    this.distribution = new Distribution(Objects.requireNonNull(metric.buckets()));
  }

  public synchronized void record(long nanos) {
    distribution.record(nanos);
  }

  public void addTo(Point.Spread sum) {
    distribution.addTo(sum);
  }
}
