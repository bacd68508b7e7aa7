package dev.activator.throttle.policy;

import java.time.Duration;

/**
 * How long a request may be queued: while all pods are full, and while there is no pod.
 *
 * <p><b>Units.</b> Nanoseconds; {@link Long#MAX_VALUE} for no limit. What is left may be negative.
 *
 * @param full while pods are full, from the first pod or from the request's arrival, whichever is
 *     later; zero for no limit. Without {@code start}, the whole wait from arrival
 * @param start while there is no pod, from the request's arrival; zero if {@code full} counts for that, too
 */
public record WaitLimits(Duration full, Duration start) {
  public static final WaitLimits NONE = new WaitLimits(Duration.ZERO, Duration.ZERO);
  /** In place of the time since there are pods: there are none. */
  public static final long NO_PODS = -1;

  private static final long UNLIMITED = Long.MAX_VALUE;

  /** Whether the time for a start limits the wait. */
  public boolean isForStart(long podsNanos) {
    return !start.isZero() && podsNanos == NO_PODS;
  }

  /**
   * @param passed since the request arrived
   * @param podsNanos since there are pods, or {@link #NO_PODS}
   */
  public long left(long passed, long podsNanos) {
    if (start.isZero()) {
      return left(full, passed);
    }
    return podsNanos == NO_PODS
        ? left(start, passed)
        : left(full, Math.min(passed, podsNanos));
  }

  /** The time to the next look at {@link #left}: a pod may appear at any time, and its limit begins then. */
  public long untilCheck(long passed, long podsNanos) {
    long left = left(passed, podsNanos);
    return isForStart(podsNanos) ? Math.min(left, left(full, 0)) : left;
  }

  private static long left(Duration limit, long passed) {
    return limit.isZero() ? UNLIMITED : limit.toNanos() - passed;
  }
}
