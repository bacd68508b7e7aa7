package dev.activator.bench;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/** The name of a field of JSON, with what stands before its value. */
final class Mark {
  private final byte[] text;

  /** @param text begins with a quote and ends with that of the value */
  Mark(String text) {
    this.text = text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Where the next value begins; -1 if there is none. */
  int after(ByteBuf bytes, int from) {
    int end = bytes.writerIndex() - text.length;
    int at = from - 1;
    while (at + 1 < end) {
      at = bytes.indexOf(at + 1, end, text[0]);
      if (at < 0) {
        return -1;
      }
      if (isAt(bytes, at)) {
        return at + text.length;
      }
    }
    return -1;
  }

  private boolean isAt(ByteBuf bytes, int at) {
    for (int i = 1; i < text.length; i++) {
      if (bytes.getByte(at + i) != text[i]) {
        return false;
      }
    }
    return true;
  }

  /** The number from here to the quote after it. */
  static long number(ByteBuf bytes, int at) {
    long number = 0;
    for (int i = at; i < bytes.writerIndex() && bytes.getByte(i) != '"'; i++) {
      number = number * 10 + bytes.getByte(i) - '0';
    }
    return number;
  }
}
