package dev.activator.throttle;

import dev.activator.lending.LoanLease;
import dev.activator.revision.Destination;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.policy.DestinationSubset;
import dev.activator.throttle.policy.SlowStart;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One destination and its requests in flight. It is its own permit, so acquiring allocates nothing.
 *
 * <p>An unlisted destination is closed: it grants no permits, and keeps its count in case it
 * returns. One word has the closed bit, the count, the carried count (see {@link
 * dev.activator.throttle.policy.InFlightCarryOver}) and the number of permits that this activator
 * holds. So a thread with an older snapshot can acquire no permit after the close, and none that
 * was lent in the meantime.
 *
 * <p><b>Threads.</b> Any acquires and releases; only the revision's loop opens and closes.
 */
final class PodTracker implements Permit {
  private static final int COUNT_BITS = 24;
  private static final int CARRIED_BITS = 20;
  private static final long CLOSED = Long.MIN_VALUE;
  private static final long COUNT_MASK = (1L << COUNT_BITS) - 1;
  /** One carried request; the lower bits count permits of this destination. */
  private static final long CARRIED = 1L << COUNT_BITS;
  private static final int MAX_CARRIED = (1 << CARRIED_BITS) - 1;
  /** One permit that this activator holds. */
  private static final long HELD = 1L << (COUNT_BITS + CARRIED_BITS);
  private static final long HELD_MASK = ~CLOSED & -HELD;
  /** The number of held permits while none are lent. Higher limits cannot be lent. */
  static final int ALL = (int) (HELD_MASK / HELD);

  private final Destination destination;
  private final RevisionPermits permits;
  private final AtomicLong state;
  private final AtomicReference<SlowStart> slowStart;
  private final boolean isClusterIp;
  /** As requests end, the number of held permits falls to this. */
  private volatile int target;
  /** The lease of the held permits, if they are borrowed. */
  private volatile @Nullable LoanLease lease;

  /**
   * A pod is closed at first.
   *
   * @param isClusterIp without slow start, because it stands for all pods
   * @param window its last one; {@link DestinationSubset#UNLIMITED} if it had none
   * @param held {@link #ALL} if permits are not lent
   */
  PodTracker(Destination destination, RevisionPermits permits, boolean isClusterIp, int window,
      int held) {
    this.state = new AtomicLong(CLOSED | held * HELD);
    this.target = held;
    this.destination = destination;
    this.permits = permits;
    this.isClusterIp = isClusterIp;
    this.slowStart = new AtomicReference<>(SlowStart.of(window, 0));
  }

  @Override
  public Destination destination() {
    return destination;
  }

  /**
   * Acquires a permit. A borrowed one may be acquired only right after {@link #hasRoom}, which
   * checks the lease.
   */
  boolean tryAcquire(int limit) {
    int max = isInSlowStart() ? Math.min(limit, slowStartNow().window()) : limit;
    long now = state.get();
    while (now >= 0 && load(now) < max && hasRoom(now)) {
      if (state.compareAndSet(now, now + 1)) {
        return true;
      }
      now = state.get();
    }
    return false;
  }

  @Override
  public void release(Ending ending) {
    // Widens the window first, so that the request woken by the permit finds room.
    if (ending == Ending.BROKEN) {
      permits.broken(this);
    } else if (ending == Ending.ANSWERED && isInSlowStart()) {
      long now = nowOfWindow();
      slowStart.getAndUpdate(it -> it.served(now));
    }
    decrement();
  }

  @Override
  public @Nullable QueueEntry retry(QueuedCaller caller, boolean connected) {
    return permits.retry(this, caller, connected);
  }

  @Override
  public boolean isWithdrawn() {
    return permits.isWithdrawn(destination);
  }

  private void decrement() {
    if (inFlight() == 0) {
      throw new IllegalStateException("released more permits than taken on " + destination);
    }
    if (target == ALL) {
      permits.released(state.decrementAndGet() < 0);
      return;
    }
    while (true) {
      int keep = target;
      long now = state.get();
      boolean givenUp = held(now) > keep;
      if (state.compareAndSet(now, givenUp ? now - 1 - HELD : now - 1)) {
        // A target that was lowered meanwhile may have counted this request.
        permits.released(now < 0 || givenUp || target != keep);
        return;
      }
    }
  }

  /** Includes carried requests. */
  int running() {
    return load(state.get());
  }

  int inFlight() {
    return (int) (state.get() & COUNT_MASK);
  }

  private static int held(long state) {
    return (int) ((state & HELD_MASK) / HELD);
  }

  int held() {
    return held(state.get());
  }

  /** Whether one more request may start. The clock is read only if it decides. */
  boolean hasRoom(int usual) {
    long now = state.get();
    return now >= 0 && hasRoom(now) && load(now) < limit(usual);
  }

  private static boolean hasRoom(long state) {
    int held = held(state);
    return held == ALL || load(state) < held;
  }

  /**
   * Sets how many permits this activator holds; not less than are in use, carried requests included,
   * until those are released.
   * Only on the loop.
   *
   * @return how many it holds now
   */
  int hold(int permitCount, @Nullable LoanLease itsLease) {
    lease = itsLease;
    // Set first, so that a permit released from now on is given up.
    target = permitCount;
    while (true) {
      long now = state.get();
      int held = Math.max(permitCount, load(now));
      if (held == held(now)
          || state.compareAndSet(now, now & ~HELD_MASK | Math.min(held, ALL) * HELD)) {
        return held;
      }
    }
  }

  private boolean isOver(@Nullable LoanLease borrowed) {
    return borrowed != null && borrowed.isOver(permits.nanoTime());
  }

  /** Requests of previous destinations that also count here. */
  int carried() {
    return carried(state.get());
  }

  /** Only on the loop. */
  void carry(int now) {
    state.addAndGet((Math.min(now, MAX_CARRIED) - Math.min(carried(), MAX_CARRIED)) * CARRIED);
  }

  private static int carried(long state) {
    int carried = (int) ((state & ~CLOSED & ~HELD_MASK) / CARRIED);
    return carried == MAX_CARRIED ? Integer.MAX_VALUE : carried;
  }

  private static int load(long state) {
    int carried = carried(state);
    return carried == Integer.MAX_VALUE ? carried : (int) (state & COUNT_MASK) + carried;
  }

  boolean isClusterIp() {
    return isClusterIp;
  }

  /** The number of requests in flight, for the balancer; more than any limit if closed. */
  int load() {
    long now = state.get();
    return now >= 0 ? load(now) : DestinationSubset.UNLIMITED;
  }

  private int limit(int usual) {
    if (isInSlowStart()) {
      return Math.min(usual, slowStartNow().window());
    }
    int held = target == ALL ? ALL : held();
    return held == ALL ? usual : isOver(lease) ? 0 : Math.min(usual, held);
  }

  private SlowStart slowStartNow() {
    var last = slowStart.get();
    var now = last.at(permits.nanoTime());
    if (now.isOver()) {
      // So that later calls do not read the clock.
      slowStart.compareAndSet(last, now);
    }
    return now;
  }

  /** The time of the window, which stands still while the pod is closed. */
  private long nowOfWindow() {
    return state.get() < 0 ? slowStart.get().sinceNanos() : permits.nanoTime();
  }

  /** Opens a closed pod. Its window is the smaller of this one and its last. */
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
    return (state.get() & ~HELD_MASK) == CLOSED;
  }

  /** Call only for a closed pod. */
  int window() {
    return slowStart.get().window();
  }

  boolean isInSlowStart() {
    return !slowStart.get().isOver();
  }

  /** Call only in slow start. */
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
