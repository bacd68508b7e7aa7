package dev.activator.bench.tcp;

import java.nio.ByteBuffer;

/**
 * What a connection carries: the pod sends its own number first; the client sends the connection's number and how
 * much each side sends, and then both send bytes that tell by their position which one they are.
 */
final class NumberedBytes {
  /** What the pod sends first. */
  static final int GREETING = Long.BYTES;
  /** What the client sends first. */
  static final int HEADER = Long.BYTES + 2 * Integer.BYTES;
  private static final long DOWN = 0x5555_5555_5555_5555L;

  /**
   * The client's first bytes.
   *
   * @param up how many bytes the client sends
   * @param down how many the pod sends
   */
  record Header(long id, int up, int down) {
    /** How the pod ends. */
    enum PodEnd {
      /** When the client has ended. */
      LAST,
      /** It ends its output as soon as it has sent everything. */
      HALF,
      /** As soon as both have sent everything. */
      FIRST
    }

    static Header read(ByteBuffer from) {
      return new Header(from.getLong(), from.getInt(), from.getInt());
    }

    byte[] bytes() {
      return ByteBuffer.allocate(HEADER).putLong(id).putInt(up).putInt(down).array();
    }

    PodEnd podEnd() {
      return PodEnd.values()[(int) (id % PodEnd.values().length)];
    }

    byte up(int position) {
      return at(id, position);
    }

    byte down(int position) {
      return at(id ^ DOWN, position);
    }

    private static byte at(long seed, int position) {
      long mixed = (seed * 31 + position) * 0x9E37_79B9_7F4A_7C15L;
      return (byte) (mixed >>> 32);
    }
  }

  private NumberedBytes() {}
}
