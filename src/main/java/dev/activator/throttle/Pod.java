package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.policy.Loads;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One destination and what runs on it. It is its own permit, so that taking one allocates nothing.
 *
 * <p>
 * A destination that is no longer listed is closed: it gives no more permits, and still knows what
 * runs on it should it come back. The closed bit and the count share one word, so that whoever
 * looked at an older list cannot take a permit after it was closed.
 *
 * <p>
 * <b>Threads.</b> Any thread takes and releases permits; only the revision's loop opens and closes.
 *
 * <p>
 * <b>Errors.</b> Releasing when nothing is in flight throws {@link IllegalStateException}.
 */
final class Pod implements Permit {
  private static final int CLOSED = Integer.MIN_VALUE;

  private final Destination destination;
  private final Permits permits;
  private final AtomicInteger state = new AtomicInteger();

  Pod(Destination destination, Permits permits) {
    this.destination = destination;
    this.permits = permits;
  }

  @Override
  public Destination destination() {
    return destination;
  }

  /** One more runs here, if fewer than {@code limit} do and this is not closed. */
  boolean tryAcquire(int limit) {
    int now = state.get();
    while (now >= 0 && now < limit) {
      if (state.compareAndSet(now, now + 1)) {
        return true;
      }
      now = state.get();
    }
    return false;
  }

  @Override
  public void release() {
    if (inFlight() == 0) {
      throw new IllegalStateException("released more permits than taken on " + destination);
    }
    permits.released(state.decrementAndGet() == CLOSED);
  }

  int inFlight() {
    return state.get() & ~CLOSED;
  }

  /** What a balancer sees: what is in flight, or, when closed, more than any limit. */
  int load() {
    int now = state.get();
    return now >= 0 ? now : Loads.UNLIMITED;
  }

  void open() {
    state.getAndUpdate(now -> now & ~CLOSED);
  }

  void close() {
    state.getAndUpdate(now -> now | CLOSED);
  }

  /** Whether nothing runs here and nothing ever will, unless it is opened again. */
  boolean isOver() {
    return state.get() == CLOSED;
  }
}
