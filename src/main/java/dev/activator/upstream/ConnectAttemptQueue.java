package dev.activator.upstream;

import dev.activator.loop.policy.RateLimit;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * A queue of attempts to connect. Attempts at addresses that have refused before are rate limited,
 * and the one that has been due for longest is first. Attempts at new addresses are not limited.
 *
 * <p><b>Threads.</b> One thread; queues of several threads may share the rate limit.
 *
 * <p><b>Units.</b> Nanoseconds of a clock that may overflow.
 */
public final class ConnectAttemptQueue<T> {
  private record Turn<T>(long dueNanos, boolean first, T attempt) implements Comparable<Turn<T>> {
    @Override
    public int compareTo(Turn<T> other) {
      return first == other.first ? Long.signum(dueNanos - other.dueNanos) : first ? -1 : 1;
    }
  }

  private final PriorityQueue<Turn<T>> waiting = new PriorityQueue<>();
  private final RateLimit rate;

  public ConnectAttemptQueue(RateLimit rate) {
    this.rate = rate;
  }

  public void first(T attempt, long nowNanos) {
    waiting.add(new Turn<>(nowNanos, true, attempt));
  }

  public void again(T attempt, long dueNanos) {
    waiting.add(new Turn<>(dueNanos, false, attempt));
  }

  public boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** The next attempt; null if none may be made now. */
  public @Nullable T next(long nowNanos) {
    var next = waiting.peek();
    if (next == null || next.dueNanos - nowNanos > 0) {
      return null;
    }
    if (!next.first && !rate.tryTake(nowNanos)) {
      return null;
    }
    waiting.remove();
    return next.attempt;
  }

  /** The time until {@link #next} returns an attempt. The queue must not be empty. */
  public long untilNextNanos(long nowNanos) {
    var next = waiting.element();
    long early = Math.max(0, next.dueNanos - nowNanos);
    return next.first ? early : Math.max(early, rate.untilNanos(nowNanos));
  }
}
