package dev.activator.loop;

import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * Runs tasks one at a time, in order, and is their clock. Repeating tasks use a
 * {@link ResettableTimer}.
 *
 * <p><b>Threads.</b> Any thread may call. State that only a loop's tasks touch needs no lock.
 *
 * <p><b>Errors.</b> A task that throws is logged.
 */
public interface Loop extends Executor {
  /** Never runs the task inside this call. */
  @Override
  void execute(Runnable task);

  Timer schedule(Duration delay, Runnable task);

  /**
   * Since some origin, which all loops of a process share; only differences mean anything. It does not run over
   * while the process lives.
   */
  long nanoTime();

  interface Timer {
    void cancel();
  }
}
