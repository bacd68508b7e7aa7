package dev.activator.observability.request;

import dev.activator.observability.meter.Buckets;
import dev.activator.observability.meter.Distribution;
import dev.activator.observability.meter.Metric;
import dev.activator.observability.meter.Sums;
import dev.activator.observability.meter.Tags;

/**
 * Requests of one kind, as they were sent to one pod.
 *
 * <p>
 * <b>Threads.</b> One records; any reads.
 */
final class ClientSeries {
  private final Tags tags;
  private final Distribution nanos = new Distribution(Buckets.SECONDS);
  private final Distribution requestBytes = new Distribution(Buckets.BYTES);

  ClientSeries(Tags tags) {
    this.tags = tags;
  }

  void record(long tookNanos, long bytes) {
    nanos.record(tookNanos);
    requestBytes.record(bytes);
  }

  void addTo(Sums sums) {
    nanos.addTo(sums.of(Metric.CLIENT_DURATION, tags));
    requestBytes.addTo(sums.of(Metric.CLIENT_REQUEST_SIZE, tags));
  }
}
