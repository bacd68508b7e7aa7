package dev.activator.ext.tcp.policy;

/**
 * Recognises, byte by byte, whether a connection begins with a header of the PROXY protocol.
 *
 * <p><b>Source.</b> The PROXY protocol, versions 1 and 2, sections 2.1 and 2.2.
 */
public final class ProxySignature {
  private static final byte[] V1 = {'P', 'R', 'O', 'X', 'Y', ' '};
  private static final byte[] V2 = {'\r', '\n', '\r', '\n', 0, '\r', '\n', 'Q', 'U', 'I', 'T',
      '\n'};

  /** What the bytes so far are. */
  public enum Match {
    /** The beginning of a signature. */
    PART,
    WHOLE,
    NONE
  }

  private byte[] expected = V1;
  private int matched;
  private Match match = Match.PART;

  public Match match() {
    return match;
  }

  /** Adds the next byte of the connection. It changes nothing once the match is not a part. */
  public void add(byte next) {
    if (match != Match.PART) {
      return;
    }
    if (matched == 0) {
      expected = next == V2[0] ? V2 : V1;
    }
    if (next != expected[matched]) {
      match = Match.NONE;
    } else if (++matched == expected.length) {
      match = Match.WHOLE;
    }
  }
}
