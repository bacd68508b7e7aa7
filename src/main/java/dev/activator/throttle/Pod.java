package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.Admission.Permit;
import dev.activator.throttle.Admission.QueueEntry;
import dev.activator.throttle.Admission.QueuedCaller;
import dev.activator.throttle.policy.SlowStart;
import dev.activator.throttle.policy.Subset;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One destination and the number of requests in flight there. It is its own permit, so taking one
 * allocates nothing.
 *
 * <p>
 * A destination that is no longer listed is closed: it grants no permits, and keeps its count in case
 * it comes back. The closed bit, the count and the carried count (see {@link CarryOver}) share one
 * word, so that a thread with an older snapshot cannot acquire a permit after the close.
 *
 * <p>
 * <b>Threads.</b> Any thread acquires and releases; only the revision's loop opens and closes.
 *
 * <p>
 * <b>Errors.</b> Releasing when nothing is in flight throws {@link IllegalStateException}.
 */
final class Pod implements Permit {
  private static final long CLOSED = Long.MIN_VALUE;
  /** One carried request; the bits below count requests with a permit of this destination. */
  private static final long CARRIED = 1L << Integer.SIZE;

  private final Destination destination;
  private final Permits permits;
  private final AtomicLong state = new AtomicLong(CLOSED);
  /** The slow-start window: a limit below the usual one while the destination is new. */
  private final AtomicInteger window;
  private final boolean isClusterIp;

  /**
   * A closed destination.
   *
   * @param isClusterIp whether it stands for all pods; it then has no slow start
   * @param window its last slow-start window; {@link Subset#UNLIMITED} if it had none
   */
  Pod(Destination destination, Permits permits, boolean isClusterIp, int window) {
    this.destination = destination;
    this.permits = permits;
    this.isClusterIp = isClusterIp;
    this.window = new AtomicInteger(window);
  }

  @Override
  public Destination destination() {
    return destination;
  }

  /** Acquires a permit, if fewer than {@code limit} requests run here and it is not closed. */
  boolean tryAcquire(int limit) {
    int most = limit(limit);
    long now = state.get();
    while (now >= 0 && load(now) < most) {
      if (state.compareAndSet(now, now + 1)) {
        return true;
      }
      now = state.get();
    }
    return false;
  }

  @Override
  public void release(Ending ending) {
    // The window first, so that the request that is woken by the permit finds the room.
    if (ending == Ending.BROKEN) {
      permits.broken(this);
    } else if (ending == Ending.ANSWERED && window.get() != Subset.UNLIMITED) {
      widen(SlowStart::served);
    }
    decrement();
  }

  @Override
  public @Nullable QueueEntry retry(QueuedCaller caller) {
    return permits.retry(this, caller);
  }

  private void decrement() {
    if (inFlight() == 0) {
      throw new IllegalStateException("released more permits than taken on " + destination);
    }
    permits.released(state.decrementAndGet() < 0);
  }

  /** How many requests run with a permit of this destination. */
  int inFlight() {
    return (int) state.get();
  }

  /** How many requests of the previous destinations count here, too. */
  int carried() {
    return carried(state.get());
  }

  /** Sets {@link #carried()}; on the loop only. */
  void carry(int now) {
    state.addAndGet((now - carried()) * CARRIED);
  }

  private static int carried(long state) {
    return (int) ((state & ~CLOSED) >>> Integer.SIZE);
  }

  private static int load(long state) {
    return (int) state + carried(state);
  }

  boolean isClusterIp() {
    return isClusterIp;
  }

  /** What a balancer sees: requests in flight, or, when closed, more than any limit. */
  int load() {
    long now = state.get();
    return now >= 0 ? load(now) : Subset.UNLIMITED;
  }

  /** How many requests may run here, given the usual limit. */
  int limit(int usual) {
    return Math.min(usual, window.get());
  }

  /** Grants permits from now on; after a close, with at most this window and the last one. */
  void open(int firstWindow) {
    if (state.get() < 0) {
      if (!isClusterIp) {
        window.getAndUpdate(now -> Math.min(now, firstWindow));
      }
      state.getAndUpdate(now -> now & ~CLOSED);
    }
  }

  void close() {
    state.getAndUpdate(now -> now | CLOSED);
  }

  boolean isClosedAndIdle() {
    return state.get() == CLOSED;
  }

  /** The slow-start window; {@link Subset#UNLIMITED} once slow start is over. */
  int window() {
    return window.get();
  }

  boolean isInSlowStart() {
    return window.get() != Subset.UNLIMITED;
  }

  /** Widens the slow-start window, if it has one. */
  void widen(IntUnaryOperator by) {
    window.getAndUpdate(now -> now == Subset.UNLIMITED ? now : by.applyAsInt(now));
  }

  /** Begins or narrows the slow-start window. */
  void narrow() {
    int running = inFlight();
    if (!isClusterIp) {
      window.getAndUpdate(now -> SlowStart.broken(now, running));
    }
  }

  void endSlowStart() {
    window.set(Subset.UNLIMITED);
  }
}
