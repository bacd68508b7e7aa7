package dev.activator.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** The last that a watch was told, kept to go on from there; looked into only then. */
final class Tail {
  private static final Mark VERSION = new Mark("\"resourceVersion\":\"");

  /** Some events of the bench. */
  private final byte[] last = new byte[4_096];
  private int length;
  private String version;

  Tail(String version) {
    this.version = version;
  }

  void add(ByteBuf bytes) {
    int more = Math.min(last.length, bytes.readableBytes());
    int kept = Math.min(length, last.length - more);
    System.arraycopy(last, length - kept, last, 0, kept);
    bytes.getBytes(bytes.writerIndex() - more, last, kept, more);
    length = kept + more;
  }

  /** The newest that was told in full. */
  String version() {
    var bytes = Unpooled.wrappedBuffer(last, 0, length);
    for (int at = VERSION.after(bytes, 0); at >= 0; at = VERSION.after(bytes, at)) {
      int end = bytes.indexOf(at, length, (byte) '"');
      if (end > at) {
        version = Long.toString(Mark.number(bytes, at));
      }
    }
    return version;
  }
}
