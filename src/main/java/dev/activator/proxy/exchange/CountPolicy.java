package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.LiveRevision;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;

/**
 * How a request counts for the autoscaler.
 *
 * <p><b>Threads.</b> The request's loop.
 */
@FunctionalInterface
public interface CountPolicy {
  /** Each request counts by itself. */
  CountPolicy EACH = (_, _, each, _) -> each;

  /**
   * The count that the request enters and leaves.
   *
   * @param revision which gets the request
   * @param each counts the revision's requests on the loop one by one
   */
  RevisionCount of(RequestTimeline request, LiveRevision revision, RevisionCount each, Loop loop);
}
