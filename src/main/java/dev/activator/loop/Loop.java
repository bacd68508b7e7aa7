package dev.activator.loop;

import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * Runs tasks one at a time, in the order given, and tells the time. A task that repeats, or whose
 * time moves, uses a {@link DeadlineTimer}.
 *
 * <p>
 * <b>Threads.</b> Any thread may call; all tasks run on the loop's own thread. State that only tasks
 * of one loop touch needs no lock.
 *
 * <p>
 * <b>Errors.</b> A task that throws is logged and ends; the next one runs.
 */
public interface Loop extends Executor {
  /** Queues the task. It never runs inside this call. */
  @Override
  void execute(Runnable task);

  /** Runs the task once, after the delay, unless it is cancelled before. */
  Timer schedule(Duration delay, Runnable task);

  /** The time in nanoseconds since some origin; only differences mean anything. */
  long nanoTime();

  /** A scheduled task. */
  interface Timer {
    /** Keeps the task from running; nothing happens if it ran already. */
    void cancel();
  }
}
