package dev.activator.lifecycle;

/** A part could not start. The message is one line: what, and what was wrong. */
public final class StartFailedException extends RuntimeException {
  StartFailedException(String part, Exception cause) {
    super(part + ": " + reason(cause), cause);
  }

  private static String reason(Exception cause) {
    String message = cause.getMessage();
    return message == null ? cause.getClass().getSimpleName() : message;
  }
}
