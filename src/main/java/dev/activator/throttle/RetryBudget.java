package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.Admission.Permit;
import dev.activator.throttle.Admission.QueueEntry;
import dev.activator.throttle.Admission.QueuedCaller;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * How many requests of one revision may be retries at once, so that pods that fail do not get more
 * requests than pods that work.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 *
 * <p>
 * <b>Source.</b> Retry budgets as in Envoy's circuit breakers, which allow 20 % of the active
 * requests as well, and three in any case.
 */
final class RetryBudget {
  private static final int PERCENT = 20;
  /** Allowed in any case: the one to ten requests of a pod often fail together. */
  private static final int LEAST = 10;

  private final AtomicInteger retries = new AtomicInteger();

  /** Counts one more retry, if there may be one more with this many active requests. */
  boolean tryTake(int active) {
    int most = Math.max(LEAST, (int) ((long) active * PERCENT / 100));
    int now = retries.get();
    while (now < most) {
      if (retries.compareAndSet(now, now + 1)) {
        return true;
      }
      now = retries.get();
    }
    return false;
  }

  /** A retry is over. */
  void giveBack() {
    if (retries.getAndDecrement() <= 0) {
      throw new IllegalStateException("more retries have ended than began");
    }
  }

  /** The permit of a retry, which counts until the permit is given back. */
  Permit counted(Permit permit) {
    return new Counted(permit);
  }

  private final class Counted implements Permit {
    private final Permit permit;

    private Counted(Permit permit) {
      this.permit = permit;
    }

    @Override
    public Destination destination() {
      return permit.destination();
    }

    @Override
    public void release() {
      giveBack();
      permit.release();
    }

    @Override
    public void releaseUncounted() {
      giveBack();
      permit.releaseUncounted();
    }

    @Override
    public void releaseBroken() {
      giveBack();
      permit.releaseBroken();
    }

    @Override
    public @Nullable QueueEntry retry(QueuedCaller caller) {
      giveBack();
      return permit.retry(caller);
    }
  }
}
