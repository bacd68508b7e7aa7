package dev.activator.training;

import java.time.Duration;

/** Runs one warm-up on a separate thread, beside the rest of the start or the first requests. */
public final class JvmWarmUpThread {
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

  private final Thread thread;

  public JvmWarmUpThread(Runnable warmUp) {
    thread = Thread.ofPlatform().daemon().name("warm-up").unstarted(warmUp);
  }

  public void begin() {
    thread.start();
  }

  /** Waits until the warm-up has ended, no longer than this, and interrupts one that has not. */
  public void await(Duration more) throws InterruptedException {
    if (thread.isAlive() && !thread.join(more)) {
      thread.interrupt();
    }
  }

  /** Waits until its connections are being closed, or five seconds: the event loops end next. Idempotent. */
  public void stop() {
    thread.interrupt();
    try {
      await(STOP_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
