package dev.activator.throttle;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Limits the retries of one revision while no other pod has room, so that failing pods do not get more
 * requests than working ones.
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
  /** Always allowed: the one to ten requests of a pod often fail together. */
  private static final int MIN_RETRIES = 10;

  private final AtomicInteger retries = new AtomicInteger();

  /** Counts one more retry, if there may be one more with this many active requests. */
  boolean tryAcquire(int active) {
    int most = Math.max(MIN_RETRIES, (int) ((long) active * PERCENT / 100));
    int now = retries.get();
    while (now < most) {
      if (retries.compareAndSet(now, now + 1)) {
        return true;
      }
      now = retries.get();
    }
    return false;
  }

  /** Counts one more retry, without a limit. */
  void acquire() {
    retries.getAndIncrement();
  }

  /** A retry is over. */
  void release() {
    if (retries.getAndDecrement() <= 0) {
      throw new IllegalStateException("more retries have ended than began");
    }
  }
}
