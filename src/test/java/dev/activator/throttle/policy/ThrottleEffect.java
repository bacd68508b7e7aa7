package dev.activator.throttle.policy;

import dev.activator.revision.Destination;

/** What the throttle must now do for a waiter. */
public sealed interface ThrottleEffect {
  /** It runs there. */
  record Granted(long waiter, Destination destination) implements ThrottleEffect {}

  /** It will never run. */
  record Refused(long waiter, Reason reason) implements ThrottleEffect {}

  /** Why a request will not run. */
  enum Reason {
    QUEUE_FULL,
    CANNOT_START,
    GONE
  }
}
