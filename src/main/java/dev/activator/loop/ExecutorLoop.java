package dev.activator.loop;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A loop on a single-threaded executor. */
abstract class ExecutorLoop implements Loop {
  private static final Logger log = LoggerFactory.getLogger(Loop.class);

  /** The origin of the clock. It begins with the process, so that no deadline overflows. */
  private static final long ORIGIN = System.nanoTime();

  private final ScheduledExecutorService executor;

  ExecutorLoop(ScheduledExecutorService executor) {
    this.executor = executor;
  }

  @Override
  public void execute(Runnable task) {
    executor.execute(new Guarded(task));
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    // A setting may exceed the range of nanoseconds; convert() then returns the maximum, which is
    // for ever.
    var future = executor.schedule(new Guarded(task), TimeUnit.NANOSECONDS.convert(delay),
        TimeUnit.NANOSECONDS);
    return () -> future.cancel(false);
  }

  @Override
  public long nanoTime() {
    return System.nanoTime() - ORIGIN;
  }

  /** A task whose failure is logged. Executors would drop it. */
  private record Guarded(Runnable task) implements Runnable {
    @Override
    public void run() {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        log.error("A task failed; the loop continues", e);
      }
    }
  }
}
