package dev.activator.upstream.policy;

/**
 * Decides when an HTTP/2 connection needs a PING, and when missing answers mean that the pod is
 * gone. A PING is due if a request is in flight and nothing was received for a whole interval since
 * the last write. Without writes the kernel's keep-alive is enough.
 *
 * <p>It allows at most three PINGs between two parts of responses: gRPC servers end a connection
 * with {@code too_many_pings} after four.
 *
 * @param waited the number of checks since the last write in which nothing was received
 * @param pinged whether a PING is unanswered
 * @param sent the number of PINGs since the last part of a response
 */
public record Http2KeepAlive(int waited, boolean pinged, int sent) {
  public static final Http2KeepAlive NONE = new Http2KeepAlive(0, false, 0);
  private static final int MAX_SENT = 3;
  private static final int PING_AFTER = 2;
  private static final int GIVE_UP = 4;

  /**
   * A PING is due when {@link #pinged} becomes true.
   *
   * @param received whether anything was received since the previous check
   * @param waiting whether anything was written since the last read
   */
  public Http2KeepAlive check(boolean inUse, boolean received, boolean waiting) {
    if (!inUse || !waiting) {
      return new Http2KeepAlive(0, false, sent);
    }
    if (received) {
      return new Http2KeepAlive(1, false, sent);
    }
    boolean ping = waited + 1 == PING_AFTER && sent < MAX_SENT;
    return new Http2KeepAlive(waited + 1, pinged || ping, ping ? sent + 1 : sent);
  }

  /** A part of a response has come. */
  public Http2KeepAlive answered() {
    return sent == 0 ? this : new Http2KeepAlive(waited, pinged, 0);
  }

  public boolean unanswered() {
    return pinged && waited >= GIVE_UP;
  }
}
