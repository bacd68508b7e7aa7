package dev.activator.embedded.runtime;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A loop that drops tasks once it has ended. Probes and the output of processes have threads that
 * outlive the pods, and what they report then is not needed.
 */
record LoopUntilEnd(Loop loop) implements Loop {
  private static final Logger log = LoggerFactory.getLogger(LoopUntilEnd.class);

  @Override
  public void execute(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      log.debug("A task came after the end", e);
    }
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    try {
      return loop.schedule(delay, task);
    } catch (RejectedExecutionException e) {
      log.debug("A task came after the end", e);
      return () -> {
      };
    }
  }

  @Override
  public long nanoTime() {
    return loop.nanoTime();
  }
}
