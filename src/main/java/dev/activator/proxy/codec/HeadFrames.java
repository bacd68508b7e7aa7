package dev.activator.proxy.codec;

import io.netty.buffer.ByteBuf;

/**
 * Follows the frames of an HTTP/2 connection, to know whether a head has begun and not ended: until it
 * ends nothing else can come, and what came of it is kept.
 *
 * <p>
 * <b>Source.</b> RFC 9113, sections 3.4, 4.1 and 4.3.
 */
public final class HeadFrames {
  private static final int PREFACE_BYTES = 24;
  private static final int FRAME_HEADER_BYTES = 9;
  private static final int TYPE_AT = 3;
  private static final int FLAGS_AT = 4;
  private static final int HEADERS = 1;
  private static final int CONTINUATION = 9;
  private static final int END_HEADERS = 4;

  /** What is left of the preface, or of a frame's payload. */
  private int left = PREFACE_BYTES;
  /** What was read of a frame's header. */
  private int read;
  private int length;
  private boolean ends;
  private boolean within;
  private int begun;

  /** Follows all of these bytes, which stay unread. */
  public void follow(ByteBuf bytes) {
    int at = bytes.readerIndex();
    int end = bytes.writerIndex();
    while (at < end) {
      if (left > 0) {
        int skipped = Math.min(left, end - at);
        left -= skipped;
        at += skipped;
      } else {
        header(bytes.getUnsignedByte(at));
        at++;
      }
      endIfWhole();
    }
  }

  private void header(int b) {
    if (read < TYPE_AT) {
      length = length << 8 | b;
    } else if (read == TYPE_AT) {
      begin(b);
    } else if (read == FLAGS_AT) {
      ends = (b & END_HEADERS) != 0;
    }
    read++;
    if (read == FRAME_HEADER_BYTES) {
      left = length;
    }
  }

  private void begin(int type) {
    if (type == HEADERS) {
      within = true;
      begun++;
    } else if (type != CONTINUATION) {
      // No other frame may come between those of a head; after one the connection is not read.
      within = false;
    }
  }

  private void endIfWhole() {
    if (read == FRAME_HEADER_BYTES && left == 0) {
      within &= !ends;
      read = 0;
      length = 0;
    }
  }

  /** Whether a head has begun and not ended. */
  public boolean withinHead() {
    return within;
  }

  /** How many have begun so far. */
  public int begun() {
    return begun;
  }
}
