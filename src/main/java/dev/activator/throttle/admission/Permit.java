package dev.activator.throttle.admission;

import dev.activator.revision.Destination;
import org.jspecify.annotations.Nullable;

/**
 * The right to run one request on one destination.
 *
 * <p>
 * <b>Threads.</b> Any thread may release it; only the request's own loop may retry.
 *
 * <p>
 * <b>Errors.</b> It is given back exactly once, in one of the three ways; a second time is a bug of
 * the caller and is not always noticed.
 */
public non-sealed interface Permit extends Admission {
  /** Where the request runs. */
  Destination destination();

  /** The request is over: whoever is first in the queue may run. */
  void release();

  /** As {@link #release}, but the destination refused the request or broke off. */
  void releaseBroken();

  /**
   * The destination could not be reached, and not a byte of the request has left: it is set aside,
   * and the request has a place before all that wait. The permit is given back in any case.
   *
   * @return the place; null if too many try again already, and the request has failed
   */
  @Nullable Place retry(Waiter waiter);
}
