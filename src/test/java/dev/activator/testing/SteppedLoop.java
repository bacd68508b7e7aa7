package dev.activator.testing;

import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A loop whose tasks run on a real thread, as they come, and whose time moves only when told: for
 * servers that real clients talk to.
 */
public final class SteppedLoop implements Loop {
  private static final long PATIENCE_SECONDS = 120;

  private record Task(long dueNanos, long order, Runnable action) {}

  private final Loop real;
  private final PriorityQueue<Task> tasks = new PriorityQueue<>(
      Comparator.comparingLong(Task::dueNanos).thenComparingLong(Task::order));
  private long order;
  private volatile long now;

  /** Tasks run on this loop. */
  public SteppedLoop(Loop real) {
    this.real = real;
  }

  @Override
  public void execute(Runnable task) {
    real.execute(task);
  }

  @Override
  public synchronized Timer schedule(Duration delay, Runnable action) {
    var task = new Task(now + Math.max(0, delay.toNanos()), order++, action);
    tasks.add(task);
    if (task.dueNanos() == now) {
      real.execute(() -> runIfWaiting(task));
    }
    return () -> cancel(task);
  }

  @Override
  public long nanoTime() {
    return now;
  }

  /**
   * Moves time on, running each task at its time, after all that was under way before. It moves on the
   * loop, so no task that came meanwhile reads two times.
   */
  public void advance(Duration by) {
    long end = now + by.toNanos();
    settle();
    for (var next = next(end); next != null; next = next(end)) {
      var task = next;
      real.execute(() -> {
        now = Math.max(now, task.dueNanos());
        task.action().run();
      });
      settle();
    }
    real.execute(() -> now = end);
    settle();
  }

  /** Whether its thread takes no more tasks. */
  public boolean hasEnded() {
    return real instanceof NettyLoop loop && loop.eventLoop().isShuttingDown();
  }

  /** What is to run later. */
  public synchronized List<Runnable> tasks() {
    return tasks.stream().map(Task::action).toList();
  }

  private void settle() {
    var done = new CountDownLatch(1);
    real.execute(done::countDown);
    try {
      if (!done.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the loop is stuck");
      }
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  private synchronized @Nullable Task next(long end) {
    var next = tasks.peek();
    return next != null && next.dueNanos() <= end ? tasks.remove() : null;
  }

  private void runIfWaiting(Task task) {
    if (cancel(task)) {
      task.action().run();
    }
  }

  private synchronized boolean cancel(Task task) {
    return tasks.remove(task);
  }
}
