package dev.activator.throttle;

import dev.activator.throttle.PermitSharing.PermitLease;
import dev.activator.revision.Destination;
import dev.activator.revision.PodTransport;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.policy.DestinationSubset;
import dev.activator.throttle.policy.SlowStart;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The capacity of one destination, with its requests in flight. It is also the permit, so acquiring
 * one allocates nothing.
 *
 * <p>An unlisted destination is closed. It grants no permits, and keeps its count in case it
 * returns. One 64-bit word contains the closed bit, the count, the carried count (see
 * {@link dev.activator.throttle.policy.InFlightCarryOver}) and the number of permits that this
 * activator has. So a thread with an older snapshot cannot acquire a permit after the close, or
 * one that was lent in the meantime.
 *
 * <p><b>Threads.</b> Any may acquire and release; only the revision's loop opens and closes.
 */
final class PodTracker implements Permit {
  private static final int COUNT_BITS = 24;
  private static final int CARRIED_BITS = 20;
  private static final long CLOSED = Long.MIN_VALUE;
  private static final long COUNT_MASK = (1L << COUNT_BITS) - 1;
  /** The unit of the carried count. The lower bits count permits of this destination. */
  private static final long CARRIED = 1L << COUNT_BITS;
  private static final int MAX_CARRIED = (1 << CARRIED_BITS) - 1;
  /** The unit of the number of permits that this activator has. */
  private static final long PERMITS = 1L << (COUNT_BITS + CARRIED_BITS);
  private static final long PERMITS_MASK = ~CLOSED & -PERMITS;
  /** The number of permits while none are lent. Higher limits cannot be lent. */
  static final int ALL = (int) (PERMITS_MASK / PERMITS);

  private final Destination destination;
  private final RevisionPermits permits;
  private final AtomicLong state;
  private final AtomicReference<SlowStart> slowStart;
  private final boolean isClusterIp;
  /** Stays as it is when the pod is closed, whatever other pods of the revision speak then. */
  private volatile PodTransport transport = PodTransport.PLAIN;
  /** The number to which the permits fall as requests end. */
  private volatile int target;
  /** The lease of the permits, if they are borrowed. */
  private volatile @Nullable PermitLease lease;

  /**
   * Creates a closed pod.
   *
   * @param isClusterIp whether it is the ClusterIP, which has no slow start because it stands for
   *     all pods
   * @param count {@link #ALL} if permits are not lent
   */
  PodTracker(Destination destination, RevisionPermits permits, boolean isClusterIp, int count) {
    this.state = new AtomicLong(CLOSED | count * PERMITS);
    this.target = count;
    this.destination = destination;
    this.permits = permits;
    this.isClusterIp = isClusterIp;
    this.slowStart = new AtomicReference<>(SlowStart.OVER);
  }

  @Override
  public Destination destination() {
    return destination;
  }

  @Override
  public boolean isPod() {
    return !isClusterIp;
  }

  @Override
  public PodTransport transport() {
    return transport;
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

  /** Counts a request that runs on the pod, whatever the limit. Returns false if the pod is closed. */
  boolean acquireUnlimited() {
    long now = state.get();
    while (now >= 0 && (now & COUNT_MASK) < COUNT_MASK) {
      if (state.compareAndSet(now, now + 1)) {
        return true;
      }
      now = state.get();
    }
    return false;
  }

  @Override
  public void release(Ending ending) {
    // Widens the window first, so that the request that gets the permit finds room.
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
    return permits.owner().retry(this, caller, connected);
  }

  @Override
  public boolean isWithdrawn() {
    return permits.owner().isWithdrawn(destination);
  }

  private void decrement() {
    if (inFlight() == 0) {
      throw new IllegalStateException("released more permits than taken on " + destination);
    }
    if (target == ALL) {
      boolean closed = state.decrementAndGet() < 0;
      // Lending may have begun in the meantime, and setPermits() have counted this request.
      permits.released(closed || target != ALL);
      return;
    }
    while (true) {
      int keep = target;
      long now = state.get();
      boolean givenUp = permits(now) > keep;
      if (state.compareAndSet(now, givenUp ? now - 1 - PERMITS : now - 1)) {
        // If the target was lowered in the meantime, setPermits() may have counted this request.
        permits.released(now < 0 || givenUp || target != keep);
        return;
      }
    }
  }

  /** The number of running requests, including carried ones. */
  int running() {
    return load(state.get());
  }

  int inFlight() {
    return (int) (state.get() & COUNT_MASK);
  }

  private static int permits(long state) {
    return (int) ((state & PERMITS_MASK) / PERMITS);
  }

  int permits() {
    return permits(state.get());
  }

  /** The permits that are in use, or that a request may acquire. */
  int usable() {
    long now = state.get();
    return isOver(lease) ? Math.min(permits(now), load(now)) : permits(now);
  }

  /** Whether requests may start, though there may be no permit. */
  boolean isOpen() {
    return state.get() >= 0 && !isOver(lease);
  }

  /** Whether one more request may start. Reads the clock only if the result depends on it. */
  boolean hasRoom(int usual) {
    long now = state.get();
    return now >= 0 && hasRoom(now) && load(now) < limit(usual);
  }

  private static boolean hasRoom(long state) {
    int count = permits(state);
    return count == ALL || load(state) < count;
  }

  /**
   * Sets how many permits this activator has. Permits that are in use, including those of carried
   * requests, are kept until they are released. Only on the loop.
   *
   * @return how many it has now
   */
  int setPermits(int permitCount, @Nullable PermitLease itsLease) {
    lease = itsLease;
    // Set first, so that permits released from now on are given up.
    target = permitCount;
    while (true) {
      long now = state.get();
      int count = Math.max(permitCount, load(now));
      if (count == permits(now)
          || state.compareAndSet(now, now & ~PERMITS_MASK | Math.min(count, ALL) * PERMITS)) {
        return count;
      }
    }
  }

  private boolean isOver(@Nullable PermitLease borrowed) {
    return borrowed != null && borrowed.isOver(permits.owner().nanoTime());
  }

  /** The number of requests of previous destinations that are also counted here. */
  int carried() {
    return carried(state.get());
  }

  /** Sets the number of carried requests. Only on the loop. */
  void carry(int now) {
    state.addAndGet((Math.min(now, MAX_CARRIED) - Math.min(carried(), MAX_CARRIED)) * CARRIED);
  }

  private static int carried(long state) {
    int carried = (int) ((state & ~CLOSED & ~PERMITS_MASK) / CARRIED);
    return carried == MAX_CARRIED ? Integer.MAX_VALUE : carried;
  }

  private static int load(long state) {
    int carried = carried(state);
    return carried == Integer.MAX_VALUE ? carried : (int) (state & COUNT_MASK) + carried;
  }

  boolean isClusterIp() {
    return isClusterIp;
  }

  /** The number of requests for the balancer; more than any limit if the pod is closed. */
  int load() {
    long now = state.get();
    return now >= 0 ? load(now) : DestinationSubset.UNLIMITED;
  }

  private int limit(int usual) {
    if (isInSlowStart()) {
      return Math.min(usual, slowStartNow().window());
    }
    int count = target == ALL ? ALL : permits();
    return count == ALL ? usual : isOver(lease) ? 0 : Math.min(usual, count);
  }

  private SlowStart slowStartNow() {
    var last = slowStart.get();
    var now = last.at(permits.owner().nanoTime());
    if (now.isOver()) {
      // Stored, so that later calls do not read the clock.
      slowStart.compareAndSet(last, now);
    }
    return now;
  }

  /** The current time for the window. It stands still while the pod is closed. */
  private long nowOfWindow() {
    return state.get() < 0 ? slowStart.get().sinceNanos() : permits.owner().nanoTime();
  }

  /** Opens a closed pod. Its window becomes the smaller one of its last window and this. */
  void open(int firstWindow, PodTransport now) {
    transport = now;
    if (state.get() < 0) {
      if (!isClusterIp) {
        long nanos = permits.owner().nanoTime();
        slowStart.getAndUpdate(it -> SlowStart.of(Math.min(it.window(), firstWindow), nanos));
      }
      state.getAndUpdate(word -> word & ~CLOSED);
    }
  }

  void close() {
    if (state.get() >= 0) {
      long now = permits.owner().nanoTime();
      slowStart.getAndUpdate(it -> it.at(now));
    }
    state.getAndUpdate(now -> now | CLOSED);
  }

  boolean isClosedAndIdle() {
    return (state.get() & ~PERMITS_MASK) == CLOSED;
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
    return slowStart.get().untilNextStep(permits.owner().nanoTime());
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
