package dev.activator.lifecycle;

import org.jspecify.annotations.Nullable;

/** The process cannot start; the message is one line. */
public final class StartFailedException extends RuntimeException {
  public StartFailedException(String message) {
    super(message);
  }

  public StartFailedException(String message, Throwable cause) {
    super(message, cause);
  }

  static StartFailedException of(String part, Exception cause) {
    @Nullable String message = cause.getMessage();
    return new StartFailedException(
        part + ": " + (message == null ? cause.getClass().getSimpleName() : message), cause);
  }
}
