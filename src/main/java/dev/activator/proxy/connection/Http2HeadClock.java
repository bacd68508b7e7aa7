package dev.activator.proxy.connection;

import dev.activator.loop.Loop;
import dev.activator.proxy.codec.HeadFrames;
import io.netty.buffer.ByteBuf;
import java.time.Duration;

/**
 * How long the caller of an HTTP/2 connection may take to send all frames of a head, once the first
 * has begun. In between it may be idle for as long as it likes.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 *
 * <p>
 * <b>Source.</b> {@code ReadHeaderTimeout} of Go's {@code http.Server}.
 */
final class Http2HeadClock {
  private final Loop loop;
  private final long timeoutNanos;
  private final HeadFrames frames = new HeadFrames();
  /** Which head the time is taken of, and since when. */
  private int timed;
  private long sinceNanos;

  Http2HeadClock(Loop loop, Duration timeout) {
    this.loop = loop;
    this.timeoutNanos = timeout.toNanos();
  }

  /** Bytes are about to be read. */
  void reads(ByteBuf bytes) {
    frames.follow(bytes);
  }

  /** What there was has been read; true if a head has begun, whose time is taken from now on. */
  boolean readComplete() {
    boolean begins = frames.withinHead() && frames.begun() != timed;
    if (begins) {
      timed = frames.begun();
      sinceNanos = loop.nanoTime();
    }
    return begins;
  }

  /** What the head that is on its way has left; {@link Long#MAX_VALUE} if none is. */
  long nanosLeft() {
    return frames.withinHead() && frames.begun() == timed
        ? timeoutNanos - (loop.nanoTime() - sinceNanos)
        : Long.MAX_VALUE;
  }
}
