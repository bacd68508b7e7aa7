package dev.activator.proxy.exchange;

import dev.activator.revision.Revision;
import dev.activator.throttle.Admission;
import dev.activator.throttle.Admission.QueuedCaller;

/**
 * Decides when a request may run.
 *
 * <p>
 * <b>Threads.</b> Any may call; the waiter is called back on its own loop, later.
 */
@FunctionalInterface
public interface Admitter {
  /** A permit at once, or a place in the queue. */
  Admission admit(Revision revision, QueuedCaller waiter);
}
