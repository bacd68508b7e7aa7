package dev.activator.proxy.hostile;

/**
 * What a caller does in one exchange.
 *
 * @param parts how many pieces the body has; without any it has none
 * @param sized whether the length is announced
 * @param emptyParts whether DATA without bytes comes between the pieces, in HTTP/2
 * @param expects whether it waits for a 100 before the body
 * @param deadlineOver whether its deadline has passed when the request arrives
 * @param upgrades whether it asks for another protocol, in HTTP/1.1
 * @param early whether bytes of that protocol come before the 101
 * @param completes whether the body ends
 * @param leaveAfter how many of its steps come before it leaves
 * @param code of RST_STREAM
 * @param floods control frames between two steps, in HTTP/2
 */
record CallerScript(Method method, int parts, int partBytes, boolean sized, boolean emptyParts,
    boolean trailers, boolean expects, boolean deadlineOver, boolean upgrades, boolean early,
    boolean completes, Leaving leaving, int leaveAfter, int code, Reading reading, int floods) {
  enum Method {
    GET,
    HEAD,
    POST,
    /** With an Idempotency-Key. */
    PUT;

    boolean isIdempotent() {
      return this != POST;
    }
  }

  enum Leaving {
    STAYS,
    /** In HTTP/1 that is leaving, as in Go's server. */
    ENDS_OUTPUT,
    CLOSES,
    RESETS,
    /** In HTTP/2. */
    RESETS_STREAM
  }

  enum Reading {
    ALWAYS,
    PAUSES,
    NEVER
  }

  static CallerScript get() {
    return new CallerScript(Method.GET, 0, 1, false, false, false, false, false, false, false, true,
        Leaving.STAYS, 0, 0, Reading.ALWAYS, 0);
  }

  boolean stays() {
    return leaving == Leaving.STAYS;
  }

  boolean hasBody() {
    return parts > 0;
  }

  int bodyBytes() {
    return parts * partBytes;
  }

  /** Whether what it does to its connection concerns its other exchanges there. */
  boolean endsConnection() {
    return leaving != Leaving.STAYS && leaving != Leaving.RESETS_STREAM;
  }

  /** Whether the request ends where it says it does. */
  boolean isWhole() {
    return completes || !hasBody();
  }
}
