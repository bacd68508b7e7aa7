package dev.activator.throttle;

import dev.activator.throttle.admission.Permit;
import dev.activator.throttle.admission.Place;
import dev.activator.throttle.admission.Rejection;
import dev.activator.throttle.admission.Waiter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One request that waits. What it is told is decided on its revision's loop and arrives on its own,
 * where a request that gave up meanwhile hands a permit straight back.
 *
 * <p>
 * <b>Threads.</b> {@link #grant} and {@link #reject} from any thread, at most one of them, once;
 * {@code over} is touched on the waiter's loop alone.
 */
final class QueuedRequest implements Place {
  private final Waiter waiter;
  private final Admissions admissions;
  private final long sinceNanos;
  private final @Nullable RetryBudget retries;
  private boolean over;

  /**
   * @param sinceNanos when it came, by the clock of the revision's loop
   * @param retries in which it counts because it tries again; null if this is its first time
   */
  QueuedRequest(Waiter waiter, Admissions admissions, long sinceNanos,
      @Nullable RetryBudget retries) {
    this.waiter = waiter;
    this.admissions = admissions;
    this.sinceNanos = sinceNanos;
    this.retries = retries;
  }

  long sinceNanos() {
    return sinceNanos;
  }

  void grant(Permit permit) {
    waiter.loop().execute(() -> {
      if (over) {
        permit.release();
      } else {
        over = true;
        waiter.granted(retries == null ? permit : new RetryPermit(permit, retries));
      }
    });
  }

  void reject(Rejection reason) {
    waiter.loop().execute(() -> {
      if (!over) {
        endTrying();
        waiter.rejected(reason);
      }
    });
  }

  @Override
  public void giveUp() {
    if (!over) {
      endTrying();
      admissions.leave(this);
    }
  }

  private void endTrying() {
    over = true;
    if (retries != null) {
      retries.giveBack();
    }
  }

  @Override
  public Duration timeout() {
    return admissions.queueTimeout();
  }

  @Override
  public int retryAfterSeconds() {
    return admissions.retryAfterSeconds();
  }

  @Override
  public void hold(int moreBytes) {
    admissions.heldBytes().addAndGet(moreBytes);
  }

  @Override
  public long heldBytes() {
    return admissions.heldBytes().get();
  }
}
