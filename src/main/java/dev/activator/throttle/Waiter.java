package dev.activator.throttle;

import dev.activator.loop.Loop;

/** A request that may have to wait. Exactly one of the two calls comes, unless it gives up. */
public interface Waiter {
  /** The request's own loop, on which both calls are made. */
  Loop loop();

  /** Its turn has come. The permit is its own to release. */
  void granted(Permit permit);

  /** It will never run. */
  void rejected(Rejection reason);
}
