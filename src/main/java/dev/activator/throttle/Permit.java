package dev.activator.throttle;

import dev.activator.revision.Destination;

/**
 * The right to run one request on one destination.
 *
 * <p>
 * <b>Threads.</b> Any thread may release it. <b>Errors.</b> It is released exactly once; a second
 * release is a bug of the caller and is not always noticed.
 */
public non-sealed interface Permit extends Admission {
  /** Where the request runs. */
  Destination destination();

  /** The request is over: whoever is first in the queue may run. */
  void release();
}
