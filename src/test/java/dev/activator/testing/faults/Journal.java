package dev.activator.testing.faults;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The last requests, with what became of them, for tests to look at and to wait for.
 *
 * <p><b>Threads.</b> Any thread may call in. Waiting is for tests' threads, not for a loop's.
 *
 * <p><b>Errors.</b> Waiting in vain ends in an {@link AssertionError} that says what was seen.
 */
public final class Journal {
  private static final int KEPT = 4_096;
  private static final int TOLD = 20;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<Call> calls = new ArrayDeque<>();

  Journal() {}

  /** The requests of this kind among the last 4,096, oldest first. */
  public List<Call> calls(Match match) {
    lock.lock();
    try {
      return calls.stream().filter(call -> match.fits(call.asked())).toList();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until this many of these came, and returns the one with that number, from 1. */
  public Call await(Match match, int number, Duration timeout) {
    await(() -> calls(match).size() >= number, timeout,
        () -> "fewer than " + number + " requests of " + match);
    return calls(match).get(number - 1);
  }

  /** Waits until a call has ended. */
  public Call awaitEnd(Call call, Duration timeout) {
    await(() -> call.outcome().end() != Call.End.OPEN, timeout, () -> call + " did not end");
    return call;
  }

  /** Forgets all requests, so that counting begins anew. */
  public void clear() {
    lock.lock();
    try {
      calls.clear();
    } finally {
      lock.unlock();
    }
  }

  void add(Call call) {
    lock.lock();
    try {
      if (calls.size() == KEPT) {
        calls.removeFirst();
      }
      calls.add(call);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Something that may be waited for has changed. */
  void stir() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void await(BooleanSupplier condition, Duration timeout, Supplier<String> message) {
    if (!reached(condition, timeout)) {
      throw new AssertionError(message.get() + " within " + timeout + "; seen: " + last());
    }
  }

  /** Whether it holds before the time is over. */
  boolean reached(BooleanSupplier condition, Duration timeout) {
    long left = timeout.toNanos();
    lock.lock();
    try {
      while (!condition.getAsBoolean()) {
        if (left <= 0) {
          return false;
        }
        left = changed.awaitNanos(left);
      }
      return true;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting", interrupted);
    } finally {
      lock.unlock();
    }
  }

  private List<Call> last() {
    var all = calls(Match.requests());
    return all.subList(Math.max(0, all.size() - TOLD), all.size());
  }
}
