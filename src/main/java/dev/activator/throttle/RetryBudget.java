package dev.activator.throttle;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many requests of one revision may be retries at once while no other pod has room, so that pods
 * that fail do not get more requests than pods that work.
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

  /** Counts one more retry, however many there are. */
  void take() {
    retries.getAndIncrement();
  }

  /** A retry is over. */
  void giveBack() {
    if (retries.getAndDecrement() <= 0) {
      throw new IllegalStateException("more retries have ended than began");
    }
  }
}
