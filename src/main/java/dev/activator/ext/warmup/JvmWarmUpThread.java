package dev.activator.ext.warmup;

import java.time.Duration;

/**
 * Runs one warm-up on a separate thread, in parallel with the rest of the start or with the first
 * requests.
 */
public final class JvmWarmUpThread {
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

  private final Thread thread;

  public JvmWarmUpThread(Runnable warmUp) {
    thread = Thread.ofPlatform().daemon().name("warm-up").unstarted(warmUp);
  }

  public void begin() {
    thread.start();
  }

  /** Waits until the warm-up has ended, but no longer than this; then interrupts it. */
  public void await(Duration more) throws InterruptedException {
    if (thread.isAlive() && !thread.join(more)) {
      thread.interrupt();
    }
  }

  /**
   * Ends the warm-up. Waits up to five seconds until its connections are being closed, because the
   * event loops end next. Idempotent.
   */
  public void stop() {
    thread.interrupt();
    try {
      await(STOP_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
