package dev.activator.observability.request;

import dev.activator.observability.meter.Buckets;
import dev.activator.observability.meter.Distribution;
import dev.activator.observability.meter.Metric;
import dev.activator.observability.meter.Sums;
import dev.activator.observability.meter.Tags;

/**
 * Requests of one kind, as their callers see them.
 *
 * <p>
 * <b>Threads.</b> One records; any reads.
 */
final class ServerSeries {
  private final Tags tags;
  private final Distribution nanos = new Distribution(Buckets.SECONDS);
  private final Distribution requestBytes = new Distribution(Buckets.BYTES);
  private final Distribution responseBytes = new Distribution(Buckets.BYTES);

  ServerSeries(Tags tags) {
    this.tags = tags;
  }

  void record(RequestRecord request) {
    nanos.record(request.endedNanos() - request.arrivedNanos());
    requestBytes.record(request.requestBytes());
    responseBytes.record(request.responseBytes());
  }

  void addTo(Sums sums) {
    nanos.addTo(sums.of(Metric.SERVER_DURATION, tags));
    requestBytes.addTo(sums.of(Metric.SERVER_REQUEST_SIZE, tags));
    responseBytes.addTo(sums.of(Metric.SERVER_RESPONSE_SIZE, tags));
  }
}
