package dev.activator.proxy;

import dev.activator.lifecycle.Readiness;
import dev.activator.loop.Loop;
import dev.activator.observability.request.RequestObserver;
import dev.activator.proxy.exchange.Admitter;
import dev.activator.revision.Revisions;
import dev.activator.stats.RequestCounter;
import dev.activator.upstream.Upstreams;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Whom the request path asks and tells.
 *
 * @param revisions which there are
 * @param admitter when a request may run, and where
 * @param upstreams connections to pods
 * @param counters the counter of each loop; asked once a loop
 * @param observers who hears what happens to the requests of each loop; asked once a loop
 * @param readiness what the kubelet is told
 */
public record Neighbours(Revisions revisions, Admitter admitter, Upstreams upstreams,
    Function<Loop, RequestCounter> counters, Function<Loop, RequestObserver> observers,
    Supplier<Readiness> readiness) {

  /** As the other, with nobody to hear what happens. */
  public Neighbours(Revisions revisions, Admitter admitter, Upstreams upstreams,
      Function<Loop, RequestCounter> counters, Supplier<Readiness> readiness) {
    this(revisions, admitter, upstreams, counters, _ -> RequestObserver.NONE, readiness);
  }
}
