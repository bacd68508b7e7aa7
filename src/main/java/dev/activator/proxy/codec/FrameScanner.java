package dev.activator.proxy.codec;

import dev.activator.upstream.policy.FrameBudget;
import io.netty.buffer.ByteBuf;

/**
 * Finds the frames of an HTTP/2 connection before they are decoded: their ends, control frames,
 * incomplete heads.
 *
 * <p><b>Source.</b> RFC 9113, sections 3.4, 4.1 and 4.3.
 */
public final class FrameScanner {
  private static final int PREFACE_BYTES = 24;
  private static final int FRAME_HEADER_BYTES = 9;
  private static final int TYPE_AT = 3;
  private static final int FLAGS_AT = 4;
  private static final int HEADERS = 1;
  private static final int CONTINUATION = 9;
  private static final int END_HEADERS = 4;

  /** What is left of the preface, or of a frame's payload. */
  private int left = PREFACE_BYTES;
  /** How much of the frame header was read. */
  private int read;
  private int length;
  private int type;
  private boolean ends;
  private boolean within;
  private int heads;
  private int headBytes;
  private int charged;
  private int frames;

  /**
   * Scans until {@code mostFrames} frames have ended and returns how many bytes that are; they stay
   * unread.
   */
  public int scan(ByteBuf bytes, int mostFrames) {
    int at = bytes.readerIndex();
    int end = bytes.writerIndex();
    int last = frames + mostFrames;
    while (at < end && frames < last) {
      if (left > 0) {
        int skipped = Math.min(left, end - at);
        left -= skipped;
        at += skipped;
        headBytes += within ? skipped : 0;
      } else {
        header(bytes.getUnsignedByte(at));
        at++;
      }
      if (read == FRAME_HEADER_BYTES && left == 0) {
        endFrame();
      }
    }
    return at - bytes.readerIndex();
  }

  private void header(int b) {
    if (read < TYPE_AT) {
      length = length << 8 | b;
    } else if (read == TYPE_AT) {
      begin(b);
    } else if (read == FLAGS_AT) {
      ends = (b & END_HEADERS) != 0;
      charged += FrameBudget.isCharged(type, b, length) ? 1 : 0;
    }
    read++;
    if (read == FRAME_HEADER_BYTES) {
      left = length;
    }
  }

  private void begin(int newType) {
    type = newType;
    if (type == HEADERS) {
      within = true;
      heads++;
      headBytes = 0;
    } else if (type != CONTINUATION) {
      // Only CONTINUATION may follow a part of a head; anything else ends the connection.
      within = false;
    }
  }

  private void endFrame() {
    frames++;
    within &= !ends;
    read = 0;
    length = 0;
  }

  public boolean withinHead() {
    return within;
  }

  /** 0 if no head is incomplete. */
  public int headBytes() {
    return within ? headBytes : 0;
  }

  public int heads() {
    return heads;
  }

  /** How many frames have ended. */
  public int frames() {
    return frames;
  }

  /** How many were charged since the last call. */
  public int takeCharged() {
    int taken = charged;
    charged = 0;
    return taken;
  }
}
