package dev.activator.proxy;

import dev.activator.loop.Loop;
import java.time.Duration;

/**
 * How long a caller may take to send a request's head, or the beginning of HTTP/2. Between requests a
 * connection may be idle for as long as it likes.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 *
 * <p>
 * <b>Source.</b> {@code ReadHeaderTimeout} of Go's {@code http.Server}.
 */
final class HeaderTimeout {
  private final Loop loop;
  private final long timeoutNanos;
  private long sinceNanos;
  private boolean running;

  HeaderTimeout(Loop loop, Duration timeout) {
    this.loop = loop;
    this.timeoutNanos = timeout.toNanos();
  }

  void start() {
    running = true;
    sinceNanos = loop.nanoTime();
  }

  void stop() {
    running = false;
  }

  boolean isRunning() {
    return running;
  }

  /** {@link Long#MAX_VALUE} while it does not run. */
  long nanosLeft() {
    return running ? timeoutNanos - (loop.nanoTime() - sinceNanos) : Long.MAX_VALUE;
  }
}
