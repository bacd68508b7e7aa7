package dev.activator.testing;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;

/** A loop whose time moves only when told. Tasks run inside {@link #advance} and nowhere else. */
public final class VirtualLoop implements Loop {
  /** No record: its comparisons would be most of a simulation. */
  private static final class Task implements Comparable<Task> {
    private final long dueNanos;
    private final long order;
    private final Runnable action;

    Task(long dueNanos, long order, Runnable action) {
      this.dueNanos = dueNanos;
      this.order = order;
      this.action = action;
    }

    @Override
    public int compareTo(Task other) {
      return dueNanos == other.dueNanos
          ? Long.compare(order, other.order)
          : Long.compare(dueNanos, other.dueNanos);
    }
  }

  private final PriorityQueue<Task> tasks = new PriorityQueue<>();
  private final long originNanos;
  private long now;
  private long readingNanos;
  private long order;

  public VirtualLoop() {
    this(0);
  }

  private VirtualLoop(long originNanos) {
    this.originNanos = originNanos;
  }

  /** One whose clock passes from the largest number to the smallest after half a second. */
  public static VirtualLoop nearOverflow() {
    return new VirtualLoop(Long.MAX_VALUE - 500_000_000);
  }

  @Override
  public void execute(Runnable task) {
    add(now, task);
  }

  @Override
  public Timer schedule(Duration delay, Runnable action) {
    long nanos = Math.max(0, TimeUnit.NANOSECONDS.convert(delay));
    var task = add(now + Math.min(nanos, Long.MAX_VALUE - now), action);
    return () -> tasks.remove(task);
  }

  @Override
  public long nanoTime() {
    now += readingNanos;
    return originNanos + now;
  }

  /** From now on each reading of the time takes this long. */
  public void readingsTake(long nanos) {
    readingNanos = nanos;
  }

  /** The time since this loop was made. */
  public Duration elapsed() {
    return Duration.ofNanos(now);
  }

  /** What is to run, due or not. */
  public List<Runnable> tasks() {
    return tasks.stream().map(task -> task.action).toList();
  }

  /** How many tasks there are, due or not. */
  public int pending() {
    return tasks.size();
  }

  /** Runs one task that is due now: a turn of the loop. */
  public void turn() {
    var next = tasks.peek();
    if (next != null && next.dueNanos <= now) {
      tasks.remove();
      next.action.run();
    }
  }

  /** Runs what is due now. */
  public void run() {
    advance(Duration.ZERO);
  }

  /** Moves time on, running each task at its time, those they add included. */
  public void advance(Duration by) {
    long end = now + by.toNanos();
    for (var next = tasks.peek(); next != null && next.dueNanos <= end; next = tasks.peek()) {
      tasks.remove();
      now = Math.max(now, next.dueNanos);
      next.action.run();
    }
    now = Math.max(now, end);
  }

  private Task add(long due, Runnable action) {
    var task = new Task(due, order++, action);
    tasks.add(task);
    return task;
  }
}
