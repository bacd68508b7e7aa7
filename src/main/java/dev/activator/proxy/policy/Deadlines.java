package dev.activator.proxy.policy;

import dev.activator.revision.RequestTimeouts;
import java.time.Duration;

/**
 * When a request is given up. A write is anything of the response that goes to the caller, a 1xx
 * included; the upload of the request does not count.
 *
 * <p>
 * <b>Units.</b> Nanoseconds. {@code passed} is the time since the request's arrival. A time left of 0
 * or less means that a limit is over.
 *
 * <p>
 * <b>Source.</b> {@code timeoutHandler} in Knative's {@code timeout.go}.
 */
public final class Deadlines {
  private Deadlines() {}

  /** The time left while nothing of the response was written. */
  public static long leftBeforeWrite(RequestTimeouts limits, long passed) {
    long left = limits.overall().toNanos() - passed;
    if (!limits.responseStart().isZero()) {
      left = Math.min(left, limits.responseStart().toNanos() - passed);
    }
    if (!limits.idle().isZero()) {
      left = Math.min(left, limits.idle().toNanos() - passed);
    }
    return left;
  }

  /** The time left, so long after the last write. */
  public static long leftAfterWrite(RequestTimeouts limits, long passed, long sinceWrite) {
    long left = limits.overall().toNanos() - passed;
    return limits.idle().isZero() ? left : Math.min(left, limits.idle().toNanos() - sinceWrite);
  }

  /** Which limit is over, while nothing of the response was written. */
  public static TimeoutKind overBeforeWrite(RequestTimeouts limits, long passed) {
    if (passed >= limits.overall().toNanos()) {
      return TimeoutKind.OVERALL;
    }
    return !limits.responseStart().isZero() && passed >= limits.responseStart().toNanos()
        ? TimeoutKind.RESPONSE_START
        : TimeoutKind.IDLE;
  }

  /** Which limit is over, after a write. */
  public static TimeoutKind overAfterWrite(RequestTimeouts limits, long passed) {
    return passed >= limits.overall().toNanos() ? TimeoutKind.OVERALL : TimeoutKind.IDLE;
  }

  /**
   * How long a request may be queued, from its arrival; {@link CallerTimeout#NONE} for no limit.
   *
   * @param queue the revision's limit; zero for none
   * @param caller the caller's own; {@link CallerTimeout#NONE} for none
   */
  public static long inQueue(Duration queue, long caller) {
    return queue.isZero() ? caller : Math.min(queue.toNanos(), caller);
  }

  /** Which limit ends the time in the queue. */
  public static TimeoutKind overInQueue(long caller, long passed) {
    return passed >= caller ? TimeoutKind.CALLER : TimeoutKind.QUEUE;
  }
}
