package dev.activator.proxy.policy;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;

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
   * Whether a request is idempotent, by its method or an idempotency key, as {@code isReplayable}
   * in Go's {@code net/http}.
   */
  public static boolean isIdempotent(String method, HeaderFieldList fields) {
    return switch (method) {
      case "GET", "HEAD", "OPTIONS", "TRACE" -> true;
      default ->
        fields.has(KnownHeader.IDEMPOTENCY_KEY) || fields.has(KnownHeader.X_IDEMPOTENCY_KEY);
    };
  }

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
