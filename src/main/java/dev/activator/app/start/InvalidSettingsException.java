package dev.activator.app.start;

/** Settings that cannot hold together, or name what cannot be used. The message is one line. */
public final class InvalidSettingsException extends RuntimeException {
  public InvalidSettingsException(String message) {
    super(message);
  }

  public InvalidSettingsException(String message, Throwable cause) {
    super(message, cause);
  }
}
