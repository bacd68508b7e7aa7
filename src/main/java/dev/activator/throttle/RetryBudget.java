package dev.activator.throttle;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many requests of one revision may try again at once, so that pods that fail do not get more
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
  /** So many may always: a pod whose requests fail all at once has often one or ten of them. */
  private static final int LEAST = 10;

  private final AtomicInteger trying = new AtomicInteger();

  /** One more tries again, if of so many active requests that many may. */
  boolean tryTake(int active) {
    int most = Math.max(LEAST, (int) ((long) active * PERCENT / 100));
    int now = trying.get();
    while (now < most) {
      if (trying.compareAndSet(now, now + 1)) {
        return true;
      }
      now = trying.get();
    }
    return false;
  }

  /** One fewer tries again: it is over. */
  void giveBack() {
    if (trying.getAndDecrement() <= 0) {
      throw new IllegalStateException("more retries have ended than began");
    }
  }
}
