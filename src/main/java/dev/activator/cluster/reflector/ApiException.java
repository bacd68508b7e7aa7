package dev.activator.cluster.reflector;

import java.time.Duration;

/** The Kubernetes API answered with a failure. */
public final class ApiException extends RuntimeException {
  private static final int EXPIRED = 410;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;

  private final int status;
  private final transient Duration retryAfter;

  /**
   * @param retryAfter how long the server wants to be left alone; zero if it does not say
   */
  public ApiException(int status, Duration retryAfter) {
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

  /** Whether the server has forgotten what a list or watch was to go on from. */
  boolean isExpired() {
    return status == EXPIRED;
  }

  /** Whether the same may be answered differently soon. */
  boolean isTransient() {
    return status == TOO_MANY_REQUESTS || status >= SERVER_ERROR;
  }
}
