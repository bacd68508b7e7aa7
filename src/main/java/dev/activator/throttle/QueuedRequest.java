package dev.activator.throttle;

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
final class QueuedRequest implements Admission.QueueEntry {
  private final Admission.QueuedCaller caller;
  private final RevisionThrottler throttler;
  private final long sinceNanos;
  private final @Nullable RetryBudget retries;
  private boolean over;

  /**
   * @param sinceNanos when it came, by the clock of the revision's loop
   * @param retries the budget in which it counts; null if it is no retry
   */
  QueuedRequest(Admission.QueuedCaller caller, RevisionThrottler throttler, long sinceNanos,
      @Nullable RetryBudget retries) {
    this.caller = caller;
    this.throttler = throttler;
    this.sinceNanos = sinceNanos;
    this.retries = retries;
  }

  long sinceNanos() {
    return sinceNanos;
  }

  void grant(Admission.Permit permit) {
    caller.loop().execute(() -> {
      if (over) {
        permit.release();
      } else {
        over = true;
        caller.granted(retries == null ? permit : retries.counted(permit));
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
}
