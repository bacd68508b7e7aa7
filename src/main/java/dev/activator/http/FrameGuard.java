package dev.activator.http;

import io.netty.handler.codec.http2.Http2Exception;

/** Limits what an HTTP/2 peer may send, before each of its frames is read. */
public interface FrameGuard {
  FrameGuard NONE = new FrameGuard() {
  };

  /**
   * Called when the header of a frame is complete. The frame stays unread if the result is false.
   * An exception ends the connection.
   */
  default boolean mayBegin(int type, int flags, int length) throws Http2Exception {
    return true;
  }

  /**
   * @param partialHeadBytes with frame headers; 0 if no head is incomplete
   * @param tableBytes the bytes that the HPACK table may hold beyond its nominal size
   */
  default void readEnds(int partialHeadBytes, int tableBytes) {}
}
