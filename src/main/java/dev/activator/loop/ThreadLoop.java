package dev.activator.loop;

import java.util.concurrent.ScheduledThreadPoolExecutor;

/**
 * A loop with a thread of its own, whose tasks may block. The thread is a daemon: it does not keep
 * the process alive.
 *
 * <p>
 * <b>Errors.</b> A task given after {@link #close} is refused with a
 * {@link java.util.concurrent.RejectedExecutionException}.
 */
public final class ThreadLoop extends ExecutorLoop implements AutoCloseable {
  private final ScheduledThreadPoolExecutor executor;

  /** @param name of the thread, as thread dumps show it */
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
   * Ends the thread once the running task and those queued before this call are done. Scheduled
   * tasks are dropped. Nothing is interrupted, and this does not wait.
   */
  @Override
  public void close() {
    executor.shutdown();
  }
}
