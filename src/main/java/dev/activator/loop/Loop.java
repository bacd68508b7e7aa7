package dev.activator.loop;

import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * Runs tasks one at a time, in order, and tells the time. Repeating tasks use a {@link
 * DeadlineTimer}.
 *
 * <p>
 * <b>Threads.</b> Any thread may call; tasks run on the loop's own thread, so state that only they
 * touch needs no lock.
 *
 * <p>
 * <b>Errors.</b> A task that throws is logged.
 */
public interface Loop extends Executor {
  /** Queues the task; never runs it inside this call. */
  @Override
  void execute(Runnable task);

  Timer schedule(Duration delay, Runnable task);

  /** Nanoseconds since some origin; only differences mean anything. */
  long nanoTime();

  interface Timer {
    /** Does nothing if the task has run. */
    void cancel();
  }
}
