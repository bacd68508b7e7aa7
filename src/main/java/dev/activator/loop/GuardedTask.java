package dev.activator.loop;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A task whose failure is logged and ends nothing but itself. */
record GuardedTask(Runnable task) implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(GuardedTask.class);

  @Override
  public void run() {
    try {
      task.run();
    } catch (RuntimeException | Error failure) {
      log.error("A task failed; the loop goes on", failure);
    }
  }
}
