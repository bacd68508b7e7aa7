package dev.activator.proxy.policy.time;

import dev.activator.revision.RequestTimeouts;

/**
 * When to give a request up.
 *
 * <p>
 * <b>Units.</b> All in nanoseconds of a loop's clock; {@code startNanos} and {@code idleNanos} of 0
 * mean no limit.
 *
 * <p>
 * <b>Source.</b> {@code timeoutHandler} in Knative's {@code timeout.go}. A write is anything of the
 * response that goes to the caller, a 1xx too; what the caller uploads does not count.
 *
 * @param arrivedNanos when the request came
 * @param overallNanos from then to its end
 * @param startNanos from then to the first write
 * @param idleNanos between two writes, and from the arrival to the first
 */
public record Deadlines(long arrivedNanos, long overallNanos, long startNanos, long idleNanos) {
  public static Deadlines of(RequestTimeouts timeouts, long arrivedNanos) {
    return new Deadlines(arrivedNanos, timeouts.overall().toNanos(),
        timeouts.responseStart().toNanos(), timeouts.idle().toNanos());
  }

  /** The time left while nothing has been written; 0 or less once it is over. */
  public long leftBeforeStart(long nowNanos) {
    long passed = nowNanos - arrivedNanos;
    long left = overallNanos - passed;
    if (startNanos > 0) {
      left = Math.min(left, startNanos - passed);
    }
    if (idleNanos > 0) {
      left = Math.min(left, idleNanos - passed);
    }
    return left;
  }

  /** The time left after a write, the last of which was then; 0 or less once it is over. */
  public long leftAfterWrite(long nowNanos, long lastWriteNanos) {
    long left = overallNanos - (nowNanos - arrivedNanos);
    return idleNanos > 0 ? Math.min(left, idleNanos - (nowNanos - lastWriteNanos)) : left;
  }

  /** Which limit it is that is over, while nothing has been written. */
  public Budget overBeforeStart(long nowNanos) {
    long passed = nowNanos - arrivedNanos;
    if (passed >= overallNanos) {
      return Budget.OVERALL;
    }
    return startNanos > 0 && passed >= startNanos ? Budget.RESPONSE_START : Budget.IDLE;
  }

  /** Which limit it is that is over, after a write. */
  public Budget overAfterWrite(long nowNanos) {
    return nowNanos - arrivedNanos >= overallNanos ? Budget.OVERALL : Budget.IDLE;
  }

  /** Whether it matters when a write was. */
  public boolean followWrites() {
    return idleNanos > 0;
  }
}
