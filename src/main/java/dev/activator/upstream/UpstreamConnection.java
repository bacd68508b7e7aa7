package dev.activator.upstream;

import io.netty.handler.codec.http.HttpObject;

/**
 * A connection to a pod, or one stream of it, lent for one request.
 *
 * <p><b>Threads.</b> Only its loop.
 *
 * <p><b>Errors.</b> The listener is told.
 */
public interface UpstreamConnection {
  /** Sent with the next flush at the latest. */
  void write(HttpObject part);

  /** At once, or with other writes of this turn of the loop. */
  void flush();

  boolean isWritable();

  /** Whether it has served a request before and may be dead. */
  boolean reused();

  /** Whether the request's head was sent: if not, the pod cannot have acted on it. Also known after a failure. */
  boolean headIsOut();

  void pauseReading();

  void resumeReading();

  /** Gives it back to its pool if it can be used again, else closes it. */
  void release();

  /** The listener is not called any more. */
  void close();
}
