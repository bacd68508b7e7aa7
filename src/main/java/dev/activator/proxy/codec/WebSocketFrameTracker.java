package dev.activator.proxy.codec;

import io.netty.buffer.ByteBuf;

/**
 * Tracks where the frames of a WebSocket end in the bytes that pass through a tunnel.
 *
 * <p><b>Source.</b> RFC 6455, section 5.2.
 */
public final class WebSocketFrameTracker {
  private static final int MASKED = 0x80;
  private static final int LENGTH = 0x7f;
  private static final int LENGTH_IN_2_BYTES = 126;
  private static final int LENGTH_IN_8_BYTES = 127;
  private static final int MASK_BYTES = 4;
  /**
   * A payload of this length is treated as the rest of the connection. It never ends, or its length
   * is malformed.
   */
  private static final long MAX_LENGTH = Long.MAX_VALUE - MASK_BYTES;

  private enum Reading {
    FIRST,
    LENGTH,
    MORE_LENGTH,
    REST
  }

  private Reading reading = Reading.FIRST;
  private boolean masked;
  private int lengthBytes;
  private long left;

  public boolean atBoundary() {
    return reading == Reading.FIRST;
  }

  /** Follows the frames in the bytes without consuming them. */
  public void follow(ByteBuf bytes) {
    int at = bytes.readerIndex();
    while (at < bytes.writerIndex()) {
      at += step(bytes, at);
    }
  }

  /** Returns how many bytes come before the next boundary. */
  public int followToBoundary(ByteBuf bytes) {
    int at = bytes.readerIndex();
    while (at < bytes.writerIndex() && !atBoundary()) {
      at += step(bytes, at);
    }
    return at - bytes.readerIndex();
  }

  private int step(ByteBuf bytes, int at) {
    int read = 1;
    switch (reading) {
      case FIRST -> reading = Reading.LENGTH;
      case LENGTH -> length(bytes.getUnsignedByte(at));
      case MORE_LENGTH -> moreLength(bytes.getUnsignedByte(at));
      case REST -> {
        read = (int) Math.min(left, bytes.writerIndex() - at);
        left -= read;
        endIfWhole();
      }
    }
    return read;
  }

  private void length(int b) {
    masked = (b & MASKED) != 0;
    int length = b & LENGTH;
    lengthBytes = switch (length) {
      case LENGTH_IN_2_BYTES -> 2;
      case LENGTH_IN_8_BYTES -> 8;
      default -> 0;
    };
    left = lengthBytes == 0 ? length : 0;
    rest();
  }

  private void moreLength(int b) {
    left = (left << 8) | b;
    lengthBytes--;
    rest();
  }

  private void rest() {
    if (lengthBytes > 0) {
      reading = Reading.MORE_LENGTH;
    } else {
      left = left < 0 ? MAX_LENGTH : Math.min(left, MAX_LENGTH);
      left += masked ? MASK_BYTES : 0;
      reading = Reading.REST;
      endIfWhole();
    }
  }

  private void endIfWhole() {
    if (left == 0) {
      reading = Reading.FIRST;
    }
  }
}
