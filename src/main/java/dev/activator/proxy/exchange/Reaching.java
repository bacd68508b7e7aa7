package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import java.time.Duration;

/**
 * The time that a pod has to accept a connection before another is tried: one whose node is gone
 * says nothing.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 */
final class Reaching {
  /** Retries of a request; each goes to another pod, unless there is no other. */
  static final int MOST_RETRIES = 5;
  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  private final Loop.Timer timer;

  /**
   * It begins.
   *
   * @param whenOver run if time is up before it ends; the forwarder is stopped then
   */
  Reaching(Loop loop, Forwarder dialling, Runnable whenOver) {
    this.timer = loop.schedule(TIMEOUT, () -> {
      dialling.stop();
      whenOver.run();
    });
  }

  void end() {
    timer.cancel();
  }
}
