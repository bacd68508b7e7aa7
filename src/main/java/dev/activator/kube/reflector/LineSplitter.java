package dev.activator.kube.reflector;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Splits the chunks of a body into lines. Not thread-safe. */
final class LineSplitter {
  /** The limit of a line. Kubernetes objects have a few megabytes at most. */
  private static final int MAX_LINE_BYTES = 64 << 20;
  private static final int KEPT = 64 << 10;

  /** Receives a line. The bytes are overwritten after the call. */
  interface Line {
    void accept(byte[] bytes, int from, int length) throws IOException;
  }

  private byte[] begun = new byte[0];
  private int length;

  void split(ByteBuffer chunk, Line line) throws IOException {
    var bytes = new byte[chunk.remaining()];
    chunk.get(bytes);
    int from = 0;
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == '\n') {
        end(bytes, from, i, line);
        from = i + 1;
      }
    }
    append(bytes, from, bytes.length);
  }

  private void end(byte[] bytes, int from, int to, Line line) throws IOException {
    if (length == 0) {
      line.accept(bytes, from, to - from);
      return;
    }
    append(bytes, from, to);
    line.accept(begun, 0, length);
    length = 0;
    if (begun.length > KEPT) {
      begun = new byte[0];
    }
  }

  private void append(byte[] bytes, int from, int to) throws IOException {
    int needed = length + to - from;
    if (needed > MAX_LINE_BYTES) {
      throw new IOException("a line of more than " + MAX_LINE_BYTES + " bytes");
    }
    if (needed > begun.length) {
      begun = Arrays.copyOf(begun, Math.max(needed, 2 * begun.length));
    }
    System.arraycopy(bytes, from, begun, length, to - from);
    length = needed;
  }
}
