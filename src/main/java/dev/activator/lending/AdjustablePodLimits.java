package dev.activator.lending;

import dev.activator.revision.Destination;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The interface of a throttler to lending. Lending sets how many requests may run on each pod here,
 * and reads the state of the queue.
 *
 * <p><b>Threads.</b> The revision's loop.
 */
public interface AdjustablePodLimits {
  /**
   * Sets how many requests may run on a pod at once. If more are running, they continue, and the
   * limit falls as they end.
   *
   * @param lease after which no request may start; null for none
   * @return the limit now
   */
  int hold(Destination pod, int permits, @Nullable LoanLease lease);

  int held(Destination pod);

  int running(Destination pod);

  /** The requests in flight of each pod that has any. */
  Map<Destination, Integer> running();

  int queued();

  /**
   * Sets how many requests are queued at other activators. They count for the maximum length of the
   * queue.
   */
  void queuedElsewhere(int requests);

  /** When the oldest queued request began to wait. Call only while requests are queued. */
  long oldestNanos();

  /** Grants queued requests the permits that were added. */
  void grant();

  /** Divides the pods again, because lending was switched on or off. */
  void reroute();
}
