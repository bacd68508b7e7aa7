package dev.activator.ext.tcp;

import dev.activator.observability.RequestOutcome;
import dev.activator.loop.Loop;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.revision.Revision;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import org.jspecify.annotations.Nullable;

/**
 * A connection's wait in its revision's queue. The timeout of requests limits how long it may wait, not
 * how long it stays open.
 *
 * <p><b>Units.</b> Nanoseconds; {@code passed} is the age of the connection.
 */
record ConnectionWait(Revision revision, QueueEntry entry) {
  /** Takes a permit that is free, and does not wait for one. */
  record Unqueued(Loop loop) implements QueuedCaller {
    @Override
    public long maxWaitNanos() {
      return 0;
    }

    @Override
    public boolean mayWait() {
      return false;
    }

    @Override
    public void granted(Permit permit) {
      throw new IllegalStateException("it is not queued");
    }

    @Override
    public void rejected(Rejection reason) {
      throw new IllegalStateException("it is not queued");
    }
  }

  /** The time until {@link #timeout} may have another result; at least 0. */
  long untilCheck(long passed) {
    return Math.max(0, Math.min(entry.limits().untilCheck(passed, entry.podsNanos()),
        overallLeft(passed)));
  }

  /** Which time is over; null if none is. */
  @Nullable RequestOutcome timeout(long passed) {
    if (overallLeft(passed) <= 0) {
      return RequestOutcome.REQUEST_TIMEOUT;
    }
    return entry.limits().left(passed, entry.podsNanos()) > 0
        ? null
        : DeadlineCalculator.overInQueue(DeadlineCalculator.NONE, passed,
            entry.limits().isForStart(entry.podsNanos()));
  }

  private long overallLeft(long passed) {
    return revision.timeouts().overall().toNanos() - passed;
  }
}
