package dev.activator.loop;

import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A loop with a thread of its own, so that a task may block without delaying anybody else's. The
 * thread is a daemon: it does not keep the process alive.
 *
 * <p>
 * <b>Errors.</b> A task given after {@link #close} is refused with a
 * {@link java.util.concurrent.RejectedExecutionException}.
 */
public final class ThreadLoop implements Loop, AutoCloseable {
  private final ScheduledThreadPoolExecutor executor;

  /**
   * @param name of the thread, as thread dumps show it
   */
  public ThreadLoop(String name) {
    executor = new ScheduledThreadPoolExecutor(1,
        task -> Thread.ofPlatform().daemon().name(name).unstarted(task));
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public void execute(Runnable task) {
    executor.execute(new GuardedTask(task));
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    var future = executor.schedule(new GuardedTask(task), delay.toNanos(), TimeUnit.NANOSECONDS);
    return () -> future.cancel(false);
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  /**
   * Ends the thread once the task it runs, and those queued before, are done. What waits for its
   * time is dropped. Nothing is interrupted, and this does not wait.
   */
  @Override
  public void close() {
    executor.shutdown();
  }
}
