package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.Admission.Permit;
import dev.activator.throttle.Admission.QueueEntry;
import dev.activator.throttle.Admission.QueuedCaller;
import dev.activator.throttle.policy.SlowStart;
import dev.activator.throttle.policy.Subset;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
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
  private final AtomicReference<SlowStart> slowStart;
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
    this.slowStart = new AtomicReference<>(SlowStart.of(window, 0));
  }

  @Override
  public Destination destination() {
    return destination;
  }

  boolean tryAcquire(int limit) {
    int max = limit(limit);
    long now = state.get();
    while (now >= 0 && load(now) < max) {
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
    } else if (ending == Ending.ANSWERED && isInSlowStart()) {
      long now = nowOfWindow();
      slowStart.getAndUpdate(it -> it.served(now));
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
    return (int) Math.min(Integer.MAX_VALUE, (state & 0xffff_ffffL) + carried(state));
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
    return isInSlowStart() ? Math.min(usual, slowStartNow().window()) : usual;
  }

  private SlowStart slowStartNow() {
    var last = slowStart.get();
    var now = last.at(permits.nanoTime());
    if (now.isOver()) {
      // So that the clock is not read any more.
      slowStart.compareAndSet(last, now);
    }
    return now;
  }

  /** Stands still while the pod is closed. */
  private long nowOfWindow() {
    return state.get() < 0 ? slowStart.get().sinceNanos() : permits.nanoTime();
  }

  /** After a close, the window is the smaller of this one and the last. */
  void open(int firstWindow) {
    if (state.get() < 0) {
      if (!isClusterIp) {
        long now = permits.nanoTime();
        slowStart.getAndUpdate(it -> SlowStart.of(Math.min(it.window(), firstWindow), now));
      }
      state.getAndUpdate(now -> now & ~CLOSED);
    }
  }

  void close() {
    if (state.get() >= 0) {
      long now = permits.nanoTime();
      slowStart.getAndUpdate(it -> it.at(now));
    }
    state.getAndUpdate(now -> now | CLOSED);
  }

  boolean isClosedAndIdle() {
    return state.get() == CLOSED;
  }

  /** Of a closed pod. */
  int window() {
    return slowStart.get().window();
  }

  boolean isInSlowStart() {
    return !slowStart.get().isOver();
  }

  /** In slow start. */
  long nanosToNextStep() {
    return slowStart.get().untilNextStep(permits.nanoTime());
  }

  void narrow() {
    if (!isClusterIp) {
      int running = inFlight();
      long now = nowOfWindow();
      slowStart.getAndUpdate(it -> it.broken(running, now));
    }
  }

  void endSlowStart() {
    slowStart.set(SlowStart.OVER);
  }
}
