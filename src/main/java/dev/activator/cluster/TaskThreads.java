package dev.activator.cluster;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that the client library runs its tasks on: as many as there are tasks, each with a
 * name. The library keeps its tasks in order by handing over the next when one is done, so one that
 * is refused would silence what waits behind it for good, and nobody would know. Here it is told.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in.
 *
 * <p>
 * <b>Errors.</b> None are thrown: a task that no thread can be had for is dropped and told.
 */
public final class TaskThreads implements Executor, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TaskThreads.class);

  private final ExecutorService pool;
  private final Consumer<String> refused;
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param refused told why, after a task was dropped
   */
  public TaskThreads(Consumer<String> refused) {
    this(Executors.newCachedThreadPool(
        Thread.ofPlatform().daemon().name("kubernetes-", 1).factory()), refused);
  }

  public TaskThreads(ExecutorService pool, Consumer<String> refused) {
    this.pool = pool;
    this.refused = refused;
  }

  @Override
  public void execute(Runnable task) {
    try {
      pool.execute(task);
    } catch (RejectedExecutionException | OutOfMemoryError noThread) {
      if (!closed.get()) {
        log.error("A task of the Kubernetes client was dropped", noThread);
        refused.accept("a task was dropped, and others may wait for it: " + noThread.getMessage());
      }
    }
  }

  /** Takes no more tasks; those that run end by themselves. */
  @Override
  public void close() {
    closed.set(true);
    pool.shutdown();
  }
}
