package dev.activator.upstream;

import io.netty.handler.codec.http.HttpObject;

/**
 * A connection to a pod, or one stream of it, lent for one request.
 *
 * <p><b>Errors.</b> {@link UpstreamListener#failed} reports them.
 */
public interface UpstreamConnection {
  /** Writes a part, which is sent with the next flush at the latest. */
  void write(HttpObject part);

  /** Sends what was written: at once, or with other writes of this turn of the loop. */
  void flush();

  boolean isWritable();

  /** Whether it has served a request before and may be dead. */
  boolean reused();

  /**
   * Whether the head was sent; also known after a failure. Without it, the pod cannot have acted on
   * the request.
   */
  boolean headIsOut();

  void pauseReading();

  void resumeReading();

  /** Gives the connection back to its pool, or closes it if it cannot be used again. */
  void release();

  /** Closes the connection. The listener is not called any more. */
  void close();
}
