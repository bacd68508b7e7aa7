package dev.activator.kube.reflector;

import java.time.Duration;

/** The API refused a request with an HTTP status. */
public final class KubernetesApiException extends RuntimeException {
  private static final int EXPIRED = 410;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;

  private final int status;
  private final transient Duration retryAfter;

  /** @param retryAfter the pause that the server requested; zero if none */
  public KubernetesApiException(int status, Duration retryAfter) {
    super("HTTP status " + status);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  public int status() {
    return status;
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
