package dev.activator.upstream;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;

/**
 * A connection to a pod, or one stream of a connection, lent for one request.
 *
 * <p><b>Errors.</b> {@link UpstreamListener#failed} reports them.
 */
public interface UpstreamConnection {
  /** The part behind the last bytes of a tunnel: ends the output, while the pod may still send. */
  HttpContent END_OF_TUNNEL = new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER,
      EmptyHttpHeaders.INSTANCE);

  /** Writes a part. It is sent at the next flush at the latest. */
  void write(HttpObject part);

  /** Sends the written parts, now or with other writes of this turn of the loop. */
  void flush();

  boolean isWritable();

  /** Whether the connection has not taken all that was written, as the pod reads slowly. */
  default boolean hasUnsent() {
    return !isWritable();
  }

  boolean isHttp2();

  /** Whether the connection has served a request before. If it has, it may be dead. */
  boolean reused();

  /**
   * Whether the head was sent; valid also after a failure. Without the head, the pod cannot have
   * acted on the request.
   */
  boolean headIsOut();

  void pauseReading();

  void resumeReading();

  /** Gives the connection back to its pool, or closes it if it cannot be used again. */
  void release();

  /** Closes the connection. The listener is not called any more. */
  void close();
}
