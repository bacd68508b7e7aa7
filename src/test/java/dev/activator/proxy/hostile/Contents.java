package dev.activator.proxy.hostile;

import java.nio.charset.StandardCharsets;

/** Bytes that tell which exchange they belong to, and where in it. */
final class Contents {
  static final String TRAILER = "x-trailer";

  private Contents() {}

  static byte[] request(int index, int from, int to) {
    return bytes('a', index, from, to);
  }

  static byte[] response(int index, int from, int to) {
    return bytes('A', index, from, to);
  }

  private static byte[] bytes(char first, int index, int from, int to) {
    byte[] bytes = new byte[to - from];
    for (int i = from; i < to; i++) {
      bytes[i - from] = (byte) (first + (i + 5 * index + i / 26) % 26);
    }
    return bytes;
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  static byte[] chunk(byte[] bytes) {
    return ascii(Integer.toHexString(bytes.length) + "\r\n"
        + new String(bytes, StandardCharsets.ISO_8859_1) + "\r\n");
  }

  static String trailer(int index) {
    return "t" + index;
  }
}
