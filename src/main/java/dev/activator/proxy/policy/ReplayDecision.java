package dev.activator.proxy.policy;

/**
 * The decision whether a request is sent again whose connection ended before any byte of a
 * response.
 *
 * <p><b>Source.</b> {@code shouldRetryRequest} in Go's {@code net/http}, which replays no bodies; RFC 9110, section 9.2.2; RFC
 * 9113, section 8.7.
 */
public enum ReplayDecision {
  ON_ANOTHER_CONNECTION,
  AT_ANOTHER_POD,
  NOT_AT_ALL;

  private static final int MAX_TIMES = 3;

  /**
   * @param unseen whether the pod cannot have acted: it says so, or has not received the whole head
   * @param stale whether a reused connection may have been dead
   * @param whole whether all of the sent body is kept
   * @param times the number of earlier replays
   */
  public record Loss(boolean unseen, boolean stale, boolean idempotent, boolean whole, int times) {
    public ReplayDecision replay() {
      if (!whole || !unseen && !(stale && idempotent)) {
        return NOT_AT_ALL;
      }
      if (times < MAX_TIMES) {
        return ON_ANOTHER_CONNECTION;
      }
      return unseen ? AT_ANOTHER_POD : NOT_AT_ALL;
    }
  }
}
