package dev.activator.http;

import io.netty.handler.codec.http2.Http2Exception;

/** Limits the frames that the other end may send. */
public interface FrameLimits {
  FrameLimits NONE = new FrameLimits() {
  };

  /**
   * Called once the header of a frame is complete; the frame stays unread if the answer is false. An
   * exception ends the connection.
   */
  default boolean mayBegin(int type, int flags, int length) throws Http2Exception {
    return true;
  }

  /**
   * @param partialHeadBytes with frame headers; 0 if no head is incomplete
   * @param tableBytes what the HPACK table may hold beyond its own size
   */
  default void readEnds(int partialHeadBytes, int tableBytes) {}
}
