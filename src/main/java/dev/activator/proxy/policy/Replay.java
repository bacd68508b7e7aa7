package dev.activator.proxy.policy;

/**
 * What happens to a request whose connection to the pod ended without a byte of an answer.
 *
 * <p>
 * <b>Source.</b> {@code shouldRetryRequest} and {@code isReplayable} in Go's {@code net/http}; RFC
 * 9110, section 9.2.2; RFC 9113, section 8.7. Go sends no body again; here the beginning of one is
 * kept.
 */
public enum Replay {
  /** It is sent to the pod again. */
  ON_ANOTHER_CONNECTION,
  /** It is given to another pod. */
  AT_ANOTHER_POD,
  /** It has failed. */
  NOT_AT_ALL;

  private static final int MAX_TIMES = 3;

  /**
   * How a request was lost.
   *
   * @param unseen whether the pod cannot have acted on it: it says so, or did not get all of the head
   * @param stale whether the connection may have been dead before: it had served another request
   * @param whole whether all that was sent of the body is kept
   * @param times how often it was sent again before
   */
  public record Loss(boolean unseen, boolean stale, boolean idempotent, boolean whole, int times) {
    public Replay replay() {
      if (!whole || !unseen && !(stale && idempotent)) {
        return NOT_AT_ALL;
      }
      if (times < MAX_TIMES) {
        return ON_ANOTHER_CONNECTION;
      }
      return unseen ? AT_ANOTHER_POD : NOT_AT_ALL;
    }
  }

  /** By its method, or because a key identifies the request. */
  public static boolean isIdempotent(String method, Fields fields) {
    return switch (method) {
      case "GET", "HEAD", "OPTIONS", "TRACE" -> true;
      default -> fields.has(Field.IDEMPOTENCY_KEY) || fields.has(Field.X_IDEMPOTENCY_KEY);
    };
  }

  /** Whether no body follows. */
  public static boolean hasNoBody(Fields fields) {
    String length = fields.first(Field.CONTENT_LENGTH);
    return !fields.has(Field.TRANSFER_ENCODING) && (length == null || length.equals("0"));
  }
}
