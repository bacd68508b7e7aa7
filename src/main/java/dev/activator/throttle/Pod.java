package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.admission.Permit;
import dev.activator.throttle.admission.Place;
import dev.activator.throttle.admission.Waiter;
import dev.activator.throttle.policy.Loads;
import dev.activator.throttle.policy.Ramp;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

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
  private final AtomicInteger state = new AtomicInteger(CLOSED);
  /** Fewer than any limit while it is new. */
  private final AtomicInteger window;

  /**
   * A closed one.
   *
   * @param window how many it got when it was last known; {@link Loads#UNLIMITED} if it was not
   */
  Pod(Destination destination, Permits permits, int window) {
    this.destination = destination;
    this.permits = permits;
    this.window = new AtomicInteger(window);
  }

  @Override
  public Destination destination() {
    return destination;
  }

  /** One more runs here, if fewer than {@code limit} do and this is not closed. */
  boolean tryAcquire(int limit) {
    int most = limit(limit);
    int now = state.get();
    while (now >= 0 && now < most) {
      if (state.compareAndSet(now, now + 1)) {
        return true;
      }
      now = state.get();
    }
    return false;
  }

  @Override
  public void release() {
    if (window.get() != Loads.UNLIMITED) {
      // Before the permit is back, so that who is woken by it finds the room.
      widen(Ramp::served);
    }
    giveBack();
  }

  @Override
  public void releaseBroken() {
    permits.broken(this);
    giveBack();
  }

  @Override
  public @Nullable Place retry(Waiter waiter) {
    return permits.retry(this, waiter);
  }

  /** One fewer runs here. */
  void giveBack() {
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

  /** How many may run here where so many may on a pod that is not new. */
  int limit(int usual) {
    return Math.min(usual, window.get());
  }

  /** From now on permits are given; if it was closed, so many at first, or as few as it got then. */
  void open(int atFirst) {
    if (state.get() < 0) {
      window.getAndUpdate(now -> Math.min(now, atFirst));
      state.getAndUpdate(now -> now & ~CLOSED);
    }
  }

  void close() {
    state.getAndUpdate(now -> now | CLOSED);
  }

  /** Whether nothing runs here and nothing ever will, unless it is opened again. */
  boolean isOver() {
    return state.get() == CLOSED;
  }

  /** How many may run here, whatever its limit; {@link Loads#UNLIMITED} once it is not new. */
  int window() {
    return window.get();
  }

  boolean isRamping() {
    return window.get() != Loads.UNLIMITED;
  }

  /** More may run here from now on, if not as many as like do already. */
  void widen(IntUnaryOperator by) {
    window.getAndUpdate(now -> now == Loads.UNLIMITED ? now : by.applyAsInt(now));
  }

  /** Fewer may run here from now on. */
  void narrow() {
    int running = inFlight();
    window.getAndUpdate(now -> Ramp.broken(now, running));
  }

  /** As many may run here as on any pod. */
  void endRamp() {
    window.set(Loads.UNLIMITED);
  }
}
