package dev.activator.proxy;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameTypes;

/**
 * Scans the bytes of an HTTP/2 connection for where request heads begin and end, and counts their
 * bytes. Whether the frames are valid is another decoder's concern.
 *
 * <p><b>Source.</b> RFC 9113, sections 4.1 and 6.10.
 */
final class Http2HeadSizeTracker {
  private static final int LENGTH_TYPE_AND_FLAGS = 5;
  private static final int END_HEADERS = 4;

  /** Length, type and flags of the current frame, as far as they have come. */
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

  /** Of the current or the last one. */
  int headBytes() {
    return headBytes;
  }

  /** How many have begun. */
  int heads() {
    return heads;
  }
}
