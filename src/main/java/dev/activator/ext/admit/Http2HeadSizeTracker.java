package dev.activator.ext.admit;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameTypes;

/**
 * Finds where request heads begin and end in the bytes of an HTTP/2 connection, and counts their
 * bytes. Does not check whether the frames are valid; the decoder behind it does.
 *
 * <p><b>Source.</b> RFC 9113, sections 4.1 and 6.10.
 */
final class Http2HeadSizeTracker {
  private static final int LENGTH_TYPE_AND_FLAGS = 5;
  private static final int END_HEADERS = 4;

  /** The bytes of the current frame's length, type and flags that have come so far. */
  private long frame;
  private int frameHeaderBytes;
  private int payloadLeft;
  private boolean withinHead;
  private int headBytes;
  private int heads;

  void read(ByteBuf in, int from) {
    int at = from;
    while (at < in.writerIndex()) {
      if (frameHeaderBytes < Http2CodecUtil.FRAME_HEADER_LENGTH) {
        frameHeader(in.getUnsignedByte(at++));
      } else {
        int part = Math.min(payloadLeft, in.writerIndex() - at);
        at += part;
        payloadLeft -= part;
        headBytes += withinHead ? part : 0;
      }
      if (frameHeaderBytes == Http2CodecUtil.FRAME_HEADER_LENGTH && payloadLeft == 0) {
        endFrame();
      }
    }
  }

  private void frameHeader(int next) {
    frameHeaderBytes++;
    if (frameHeaderBytes <= LENGTH_TYPE_AND_FLAGS) {
      frame = frame << Byte.SIZE | next;
    }
    if (frameHeaderBytes == LENGTH_TYPE_AND_FLAGS) {
      payloadLeft = (int) (frame >>> 2 * Byte.SIZE);
      if (type() == Http2FrameTypes.HEADERS) {
        withinHead = true;
        headBytes = 0;
        heads++;
      }
    }
  }

  private int type() {
    return (int) (frame >>> Byte.SIZE) & 0xff;
  }

  private void endFrame() {
    boolean endsHead = (frame & END_HEADERS) != 0
        && (type() == Http2FrameTypes.HEADERS || type() == Http2FrameTypes.CONTINUATION);
    withinHead &= !endsHead;
    frameHeaderBytes = 0;
    frame = 0;
  }

  boolean isWithinHead() {
    return withinHead;
  }

  /** The bytes of the current head, or else of the last one. */
  int headBytes() {
    return headBytes;
  }

  /** The number of heads that have begun. */
  int heads() {
    return heads;
  }
}
