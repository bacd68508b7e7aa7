package dev.activator.loop;

import java.util.concurrent.ScheduledThreadPoolExecutor;

/**
 * A loop with its own daemon thread. Its tasks may block.
 *
 * <p><b>Errors.</b> {@link java.util.concurrent.RejectedExecutionException} after {@link #close}.
 */
public final class ThreadLoop extends ExecutorLoop implements AutoCloseable {
  private final ScheduledThreadPoolExecutor executor;

  public ThreadLoop(String name) {
    this(executor(name));
  }

  private ThreadLoop(ScheduledThreadPoolExecutor executor) {
    super(executor);
    this.executor = executor;
  }

  private static ScheduledThreadPoolExecutor executor(String name) {
    var executor = new ScheduledThreadPoolExecutor(1,
        task -> Thread.ofPlatform().daemon().name(name).unstarted(task));
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return executor;
  }

  /**
   * Runs the tasks that were queued before this call, and drops scheduled ones. Does not interrupt
   * or wait.
   */
  @Override
  public void close() {
    executor.shutdown();
  }
}
