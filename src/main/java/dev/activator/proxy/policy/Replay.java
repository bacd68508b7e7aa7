package dev.activator.proxy.policy;

/**
 * Whether a request may be sent a second time when the connection it was sent on ended without a
 * byte of response.
 *
 * <p>
 * <b>Source.</b> {@code isReplayable} in Go's {@code request.go}; RFC 9110, section 9.2.2.
 */
public final class Replay {
  private Replay() {}

  /** It must have no body, and a method that changes nothing or a key that says it is the same. */
  public static boolean allows(String method, Fields fields) {
    return hasNoBody(fields) && (changesNothing(method) || fields.has(Field.IDEMPOTENCY_KEY)
        || fields.has(Field.X_IDEMPOTENCY_KEY));
  }

  private static boolean hasNoBody(Fields fields) {
    String length = fields.first(Field.CONTENT_LENGTH);
    return !fields.has(Field.TRANSFER_ENCODING) && (length == null || length.equals("0"));
  }

  private static boolean changesNothing(String method) {
    return switch (method) {
      case "GET", "HEAD", "OPTIONS", "TRACE" -> true;
      default -> false;
    };
  }
}
