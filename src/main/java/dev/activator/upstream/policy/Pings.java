package dev.activator.upstream.policy;

/**
 * When a pod is sent an HTTP/2 PING, from one check of its connection to the next: when a request is
 * on its way, and nothing has come for a whole interval since the last write. Where nothing was
 * written, the kernel's keep-alive finds out the same.
 *
 * <p>
 * There are at most three between two parts of responses: gRPC servers end a connection with
 * {@code too_many_pings} after four.
 *
 * @param waited how many checks in a row have found something written and no sign of the pod since
 * @param asked whether a PING was sent and nothing has come since
 * @param sent how many PINGs were sent since the last part of a response
 */
public record Pings(int waited, boolean asked, int sent) {
  public static final Pings NONE = new Pings(0, false, 0);
  private static final int MOST = 3;
  private static final int ASK = 2;
  private static final int GIVE_UP = 4;

  /**
   * The state after a check. A PING is due if one is {@link #asked} now and was not before.
   *
   * @param inUse whether a request is on its way
   * @param heard whether anything came since the check before
   * @param waiting whether anything was written since the last that came
   */
  public Pings check(boolean inUse, boolean heard, boolean waiting) {
    if (!inUse || !waiting) {
      return new Pings(0, false, sent);
    }
    if (heard) {
      return new Pings(1, false, sent);
    }
    boolean ask = waited + 1 == ASK && sent < MOST;
    return new Pings(waited + 1, asked || ask, ask ? sent + 1 : sent);
  }

  /** The state after a part of a response. */
  public Pings answered() {
    return sent == 0 ? this : new Pings(waited, asked, 0);
  }

  /** Whether the pod has not answered in time. */
  public boolean unanswered() {
    return asked && waited >= GIVE_UP;
  }
}
