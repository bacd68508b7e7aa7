package dev.activator.upstream;

import io.netty.handler.codec.http.HttpObject;

/**
 * A connection to a pod, or one stream of it, lent to one listener for one request.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 *
 * <p>
 * <b>Errors.</b> Told to the listener.
 */
public interface UpstreamConnection {
  /** Sends a part of the request; it leaves with the next flush at the latest. */
  void write(HttpObject part);

  /** Sends what was written, at once or with what else is written in this turn of the loop. */
  void flush();

  /** Whether more may be written without piling up. */
  boolean isWritable();

  /** Whether it has served another request: then it may be dead without knowing. */
  boolean reused();

  /**
   * Whether all of the request's head was sent. A pod that lacks a part of it cannot have acted on the
   * request. Known after the connection has failed, too.
   */
  boolean headIsOut();

  void pauseReading();

  void resumeReading();

  /** Gives it back where it can serve another request; ends it where it cannot. */
  void release();

  /** Ends it, whatever it is doing. The listener is not called any more. */
  void close();
}
