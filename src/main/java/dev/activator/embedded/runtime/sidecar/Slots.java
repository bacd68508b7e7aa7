package dev.activator.embedded.runtime.sidecar;

import java.util.ArrayDeque;
import java.util.Queue;

/**
 * How many requests a process runs at once, and who waits; ten times as many may wait as run.
 *
 * <p>
 * <b>Threads.</b> Those of one loop, which is the caller's.
 *
 * <p>
 * <b>Errors.</b> Giving back what was not taken fails loudly.
 *
 * <p>
 * <b>Source.</b> {@code pkg/queue/breaker.go} in Knative Serving.
 */
final class Slots {
  private static final int QUEUED_FOR_EACH = 10;

  private final int capacity;
  private final Queue<Runnable> queued = new ArrayDeque<>();
  private int taken;

  /** @param capacity requests at once; 0 means any number */
  Slots(int capacity) {
    this.capacity = capacity;
  }

  /**
   * Runs {@code granted}, now or when it is its turn.
   *
   * @return false when too many wait already; then it never runs
   */
  boolean take(Runnable granted) {
    if (capacity == 0 || taken < capacity) {
      taken++;
      granted.run();
      return true;
    }
    return queued.size() < QUEUED_FOR_EACH * capacity && queued.add(granted);
  }

  /** Whoever waits with this does not want its turn any more. */
  boolean abandon(Runnable granted) {
    return queued.remove(granted);
  }

  /** A request has ended: the next one's turn. */
  void giveBack() {
    if (taken == 0) {
      throw new IllegalStateException("more slots given back than were taken");
    }
    var next = queued.poll();
    if (next == null) {
      taken--;
    } else {
      next.run();
    }
  }
}
