package dev.activator.lending;

import dev.activator.revision.Destination;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The part of a throttler through which lending sets how many requests may run on each pod here,
 * and reads what waits.
 *
 * <p><b>Threads.</b> The revision's loop.
 */
public interface AdjustablePodLimits {
  /**
   * Sets how many requests may run on a pod at once. If more are running, they continue, and the
   * number falls as they end.
   *
   * @param lease after which none of them may start; null for none
   * @return the number now
   */
  int hold(Destination pod, int permits, @Nullable LoanLease lease);

  int held(Destination pod);

  int running(Destination pod);

  /** The requests in flight of each pod that has any. */
  Map<Destination, Integer> running();

  int queued();

  /** How many requests wait at other activators, which count for the bound of the queue. */
  void queuedElsewhere(int requests);

  /** When the oldest queued request began to wait. Call only while some are queued. */
  long oldestNanos();

  /** Permits were added: queued requests run. */
  void grant();

  /** Divides the pods again, because lending was turned on or off. */
  void reroute();
}
