package dev.activator.lending;

import dev.activator.revision.Destination;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What this activator may run of one revision, and what waits here.
 *
 * <p><b>Threads.</b> The revision's loop.
 */
public interface LocalPermits {
  /**
   * Sets how many requests may run on a pod at once. If more do, they go on, and the number falls as
   * they end.
   *
   * @param lease after which none of them may start; null for none
   * @return the number now
   */
  int hold(Destination pod, int permits, @Nullable LoanLease lease);

  int held(Destination pod);

  int running(Destination pod);

  /** Of all pods on which requests run. */
  Map<Destination, Integer> running();

  int queued();

  /** How many requests wait at other activators, which count for the bound of the queue. */
  void queuedElsewhere(int requests);

  /** When the oldest began to wait; only while some do. */
  long oldestNanos();

  /** Permits were added: queued requests run. */
  void grant();

  /** Whether permits are lent at all has changed: pods are divided again. */
  void reroute();
}
