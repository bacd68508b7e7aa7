package dev.activator.proxy.policy;

/**
 * What becomes of a request whose connection to the pod ended without a byte of an answer.
 *
 * <p>
 * <b>Source.</b> {@code shouldRetryRequest} and {@code isReplayable} in Go's {@code net/http}; RFC
 * 9110, section 9.2.2; RFC 9113, section 8.7. Go sends no body again, as it has none to send. Here
 * the beginning of one is kept where it may be needed.
 */
public enum Replay {
  /** It is sent to the pod again. */
  ON_ANOTHER_CONNECTION,
  /** It is given to another pod, as no connection to this one is of use. */
  AT_ANOTHER_POD,
  /** Its caller is told. */
  NOT_AT_ALL;

  private static final int MOST_TIMES = 3;

  /**
   * How a request was lost.
   *
   * @param unseen whether the pod cannot have acted on it: the pod says so, or did not get all of its
   *     head
   * @param stale whether the connection may have been dead before: it had served another request
   * @param idempotent as {@link #isIdempotent} says
   * @param whole whether all that was sent of its body is there to be sent again
   * @param times how often it was sent again before
   */
  public record Loss(boolean unseen, boolean stale, boolean idempotent, boolean whole, int times) {
    public Replay replay() {
      if (!whole || !unseen && !(stale && idempotent)) {
        return NOT_AT_ALL;
      }
      if (times < MOST_TIMES) {
        return ON_ANOTHER_CONNECTION;
      }
      return unseen ? AT_ANOTHER_POD : NOT_AT_ALL;
    }
  }

  /** Whether it may be done twice: its method changes nothing, or a key says that it is the same. */
  public static boolean isIdempotent(String method, Fields fields) {
    return switch (method) {
      case "GET", "HEAD", "OPTIONS", "TRACE" -> true;
      default -> fields.has(Field.IDEMPOTENCY_KEY) || fields.has(Field.X_IDEMPOTENCY_KEY);
    };
  }

  /** Whether no body follows these header fields. */
  public static boolean hasNoBody(Fields fields) {
    String length = fields.first(Field.CONTENT_LENGTH);
    return !fields.has(Field.TRANSFER_ENCODING) && (length == null || length.equals("0"));
  }
}
