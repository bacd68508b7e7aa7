package dev.activator.loop;

import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * An event loop. It runs tasks one at a time, in order, and has the clock for them. Repeating tasks
 * use a {@link ResettableTimer}.
 *
 * <p><b>Threads.</b> Any thread may call. State that only a loop's tasks touch needs no lock.
 *
 * <p><b>Errors.</b> A task that throws is logged.
 */
public interface Loop extends Executor {
  /** Runs the task later, never inside this call. */
  @Override
  void execute(Runnable task);

  Timer schedule(Duration delay, Runnable task);

  /**
   * The time since an origin that all loops of a process share. Only differences are meaningful. It
   * does not overflow in the lifetime of a process.
   */
  long nanoTime();

  interface Timer {
    void cancel();
  }
}
