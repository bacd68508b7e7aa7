package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.Admission.Permit;
import dev.activator.throttle.Admission.QueueEntry;
import dev.activator.throttle.Admission.QueuedCaller;
import dev.activator.throttle.policy.QueueOrder;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One request in the queue. Its revision's loop decides; the caller's loop is told, where a permit
 * for a request that gave up meanwhile is handed straight back.
 *
 * <p>
 * <b>Threads.</b> {@link #grant} and {@link #reject} from any thread, at most one of them, once;
 * {@code over} is touched on the caller's loop alone.
 */
final class QueuedRequest implements QueueEntry {
  private final QueuedCaller caller;
  private final RevisionThrottler throttler;
  private final long sinceNanos;
  private final @Nullable RetryBudget retries;
  private boolean over;

  /**
   * @param sinceNanos when it came, by the clock of the revision's loop
   * @param retries the budget in which it counts; null if it is no retry
   */
  QueuedRequest(QueuedCaller caller, RevisionThrottler throttler, long sinceNanos,
      @Nullable RetryBudget retries) {
    this.caller = caller;
    this.throttler = throttler;
    this.sinceNanos = sinceNanos;
    this.retries = retries;
  }

  long sinceNanos() {
    return sinceNanos;
  }

  boolean isRetry() {
    return retries != null;
  }

  void grant(Permit permit, long nowNanos) {
    var granted = isRetry() || nowNanos - sinceNanos >= QueueOrder.STANDING_NANOS
        ? new Running(permit, nowNanos)
        : permit;
    caller.loop().execute(() -> {
      if (over) {
        permit.release(Admission.Ending.UNCOUNTED);
      } else {
        over = true;
        caller.granted(granted);
      }
    });
  }

  void reject(Admission.Rejection reason) {
    caller.loop().execute(() -> {
      if (!over) {
        end();
        caller.rejected(reason);
      }
    });
  }

  @Override
  public void giveUp() {
    if (!over) {
      end();
      throttler.leave(this);
    }
  }

  private void end() {
    over = true;
    uncount();
  }

  private void uncount() {
    if (retries != null) {
      retries.giveBack();
    }
  }

  @Override
  public Duration timeout() {
    return throttler.queueTimeout();
  }

  @Override
  public int retryAfterSeconds() {
    return throttler.retryAfterSeconds();
  }

  @Override
  public void hold(int moreBytes) {
    throttler.heldBytes().addAndGet(moreBytes);
  }

  @Override
  public long heldBytes() {
    return throttler.heldBytes().get();
  }

  /**
   * The permit of a request that is counted while it runs: a retry in its budget, one that was in a
   * standing queue for the order of that queue.
   */
  private final class Running implements Permit {
    private final Permit permit;
    private final long grantedNanos;

    Running(Permit permit, long grantedNanos) {
      this.permit = permit;
      this.grantedNanos = grantedNanos;
    }

    @Override
    public Destination destination() {
      return permit.destination();
    }

    @Override
    public void release(Admission.Ending ending) {
      if (!isRetry()) {
        throttler.ended(ending, grantedNanos - sinceNanos, throttler.nanoTime() - grantedNanos);
      }
      uncount();
      permit.release(ending);
    }

    @Override
    public @Nullable QueueEntry retry(QueuedCaller caller) {
      uncount();
      return permit.retry(caller);
    }
  }
}
