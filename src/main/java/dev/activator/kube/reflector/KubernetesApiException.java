package dev.activator.kube.reflector;

import java.time.Duration;

/** The API refused a request with an HTTP status. */
public final class KubernetesApiException extends RuntimeException {
  private static final int MAX_REASON = 500;
  private static final int EXPIRED = 410;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;

  private final int status;
  private final transient Duration retryAfter;
  private final String reason;

  /** @param retryAfter the pause that the server requested; zero if none */
  public KubernetesApiException(int status, Duration retryAfter) {
    this(status, retryAfter, "");
  }

  /** @param reason the message of the server's {@code Status}; empty if there is none */
  KubernetesApiException(int status, Duration retryAfter, String reason) {
    super("HTTP status " + status);
    this.status = status;
    this.retryAfter = retryAfter;
    this.reason = reason;
  }

  public int status() {
    return status;
  }

  /** What the server says, in one line, with a colon before it; empty if it says nothing. */
  String colonReason() {
    var line = reason.replaceAll("\\s+", " ").strip();
    return line.isEmpty() ? "" : ": " + line.substring(0, Math.min(MAX_REASON, line.length()));
  }

  Duration retryAfter() {
    return retryAfter;
  }

  /** Whether the continue token or resourceVersion is too old. */
  boolean isExpired() {
    return status == EXPIRED;
  }

  boolean isTransient() {
    return status == TOO_MANY_REQUESTS || status >= SERVER_ERROR;
  }
}
