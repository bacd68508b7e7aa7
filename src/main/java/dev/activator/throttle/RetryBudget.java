package dev.activator.throttle;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Limits retries while no other pod has room. Otherwise failing pods would get more requests than
 * working ones.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Source.</b> Envoy's retry budgets also allow 20 % of the active requests, and at least
 * three.
 */
final class RetryBudget {
  private static final int PERCENT = 20;
  /** A pod often has up to ten requests, which fail together. */
  private static final int MIN_RETRIES = 10;

  private final AtomicInteger retries = new AtomicInteger();

  boolean tryAcquire(int active) {
    int max = Math.max(MIN_RETRIES, (int) ((long) active * PERCENT / 100));
    int now = retries.get();
    while (now < max) {
      if (retries.compareAndSet(now, now + 1)) {
        return true;
      }
      now = retries.get();
    }
    return false;
  }

  /** Counts a retry without checking the limit. */
  void acquire() {
    retries.getAndIncrement();
  }

  void release() {
    if (retries.getAndDecrement() <= 0) {
      throw new IllegalStateException("more retries have ended than began");
    }
  }
}
