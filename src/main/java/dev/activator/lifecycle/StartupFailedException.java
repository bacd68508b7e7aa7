package dev.activator.lifecycle;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the activator's own process cannot start; the message is one line for the operator.
 */
public final class StartupFailedException extends RuntimeException {
  public StartupFailedException(String message) {
    super(message);
  }

  public StartupFailedException(String message, Throwable cause) {
    super(message, cause);
  }

  static StartupFailedException of(String part, Exception cause) {
    @Nullable String message = cause.getMessage();
    return new StartupFailedException(
        part + ": " + (message == null ? cause.getClass().getSimpleName() : message), cause);
  }
}
