package dev.activator.app;

import dev.activator.observability.meter.Meters;
import dev.activator.observability.meter.Metric;
import dev.activator.stats.AutoscalerLink;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How the connection to the autoscaler does.
 *
 * <p>
 * <b>Threads.</b> One tells; any asks.
 */
public final class LinkMeters implements AutoscalerLink.Listener {
  private static final Labels PEER = Labels.of("peer", "autoscaler");

  private final AtomicLong errors = new AtomicLong();
  /** Not a number until there was a connection. */
  private volatile double reachable = Double.NaN;

  public LinkMeters(Meters meters) {
    meters.number(Metric.LINK_REACHABLE, PEER, () -> reachable);
    meters.number(Metric.LINK_ERRORS, PEER, errors::get);
  }

  @Override
  public void connected() {
    reachable = 1;
  }

  @Override
  public void lost() {
    reachable = 0;
  }

  @Override
  public void failed() {
    errors.incrementAndGet();
  }
}
