package dev.activator.throttle;

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
  private final RevisionThrottler throttler;
  private final long sinceNanos;
  private boolean over;

  /** @param sinceNanos when it came, by the clock of the revision's loop */
  QueuedRequest(Waiter waiter, RevisionThrottler throttler, long sinceNanos) {
    this.waiter = waiter;
    this.throttler = throttler;
    this.sinceNanos = sinceNanos;
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
        waiter.granted(permit);
      }
    });
  }

  void reject(Rejection reason) {
    waiter.loop().execute(() -> {
      if (!over) {
        over = true;
        waiter.rejected(reason);
      }
    });
  }

  @Override
  public void giveUp() {
    if (!over) {
      over = true;
      throttler.leave(this);
    }
  }
}
