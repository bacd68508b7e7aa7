package dev.activator.proxy.connection;

import dev.activator.loop.Loop;
import java.time.Duration;

/**
 * How long a connection may take to send a request's head: from its beginning for the first, from
 * the first byte for those that follow. In between it may be idle for as long as it likes.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 *
 * <p>
 * <b>Source.</b> {@code ReadHeaderTimeout} of Go's {@code http.Server}.
 */
final class HeadClock {
  private final Loop loop;
  private final long timeoutNanos;
  private long sinceNanos;
  private boolean runs;
  private boolean begun;
  private boolean sawMessage;

  HeadClock(Loop loop, Duration timeout) {
    this.loop = loop;
    this.timeoutNanos = timeout.toNanos();
  }

  /** The connection is new: a head should come. */
  void begin() {
    runs = true;
    sinceNanos = loop.nanoTime();
  }

  /** A head, or what follows one, was read. */
  void sawMessage() {
    sawMessage = true;
    runs = false;
    begun = false;
  }

  /**
   * Bytes were read; true if they begin a head.
   *
   * @param idle whether nothing but a head can come now
   */
  boolean readComplete(boolean idle) {
    boolean first = idle && !sawMessage && !begun;
    if (first) {
      begun = true;
    }
    sawMessage = false;
    if (first && !runs) {
      begin();
      return true;
    }
    return false;
  }

  /** Whether a head is waited for. */
  boolean runs() {
    return runs;
  }

  /** Whether some of a head has come. */
  boolean begun() {
    return begun;
  }

  long nanosLeft() {
    return timeoutNanos - (loop.nanoTime() - sinceNanos);
  }
}
