package dev.activator.throttle.admission;

import dev.activator.loop.Loop;

/** A request that may have to wait. Exactly one of the two calls comes, unless it gives up. */
public interface Waiter {
  /** The request's own loop, on which both calls are made. */
  Loop loop();

  /**
   * How long from now it is of use to its caller; {@link Long#MAX_VALUE} for as long as it takes.
   * Asked when it finds no permit, and not kept to here: it gives up itself.
   */
  long patienceNanos();

  /** Its turn has come. The permit is its own to release. */
  void granted(Permit permit);

  /** It will never run. */
  void rejected(Rejection reason);
}
