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
 * One destination and its requests in flight. It is its own permit, so acquiring allocates nothing.
 *
 * <p>An unlisted destination is closed: it grants no permits, and keeps its count in case it
 * returns. The closed bit, the count and the carried count (see {@link CarryOver}) share one word,
 * so that a thread with an older snapshot cannot acquire after the close.
 *
 * <p><b>Threads.</b> Any acquires and releases; only the revision's loop opens and closes.
 */
final class Pod implements Permit {
  private static final long CLOSED = Long.MIN_VALUE;
  /** One carried request; the lower bits count permits of this destination. */
  private static final long CARRIED = 1L << Integer.SIZE;

  private final Destination destination;
  private final Permits permits;
  private final AtomicLong state = new AtomicLong(CLOSED);
  private final AtomicInteger window;
  private final boolean isClusterIp;

  /**
   * Initially closed.
   *
   * @param isClusterIp without slow start, because it stands for all pods
   * @param window its last one; {@link Subset#UNLIMITED} if it had none
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
    // Window first, so that the request woken by the permit finds room.
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

  int inFlight() {
    return (int) state.get();
  }

  /** Requests of the previous destinations that count here, too. */
  int carried() {
    return carried(state.get());
  }

  /** Only on the loop. */
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

  /** For the balancer; more than any limit if closed. */
  int load() {
    long now = state.get();
    return now >= 0 ? load(now) : Subset.UNLIMITED;
  }

  int limit(int usual) {
    return Math.min(usual, window.get());
  }

  /** After a close, the window is the smaller of this one and the last. */
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

  int window() {
    return window.get();
  }

  boolean isInSlowStart() {
    return window.get() != Subset.UNLIMITED;
  }

  void widen(IntUnaryOperator by) {
    window.getAndUpdate(now -> now == Subset.UNLIMITED ? now : by.applyAsInt(now));
  }

  /** Also begins slow start again. */
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
