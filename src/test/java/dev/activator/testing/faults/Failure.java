package dev.activator.testing.faults;

import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.Json;
import tools.jackson.databind.node.ObjectNode;

/**
 * Failures as a Kubernetes API tells them.
 *
 * <p><b>Source.</b> Reasons and texts of {@code api/errors/errors.go} in Kubernetes' apimachinery.
 */
public final class Failure {
  private Failure() {}

  /** What goes with a code. */
  public static StatusException of(int code) {
    return of(code, 0);
  }

  /** The same, with the wish to be asked again later. */
  public static StatusException of(int code, int retryAfterSeconds) {
    var details = Json.object();
    if (retryAfterSeconds > 0) {
      details.put("retryAfterSeconds", retryAfterSeconds);
    }
    return switch (code) {
      case 400 -> failure(code, "BadRequest", "the request is refused on purpose", details);
      case 401 -> failure(code, "Unauthorized", "Unauthorized", details);
      case 403 -> failure(code, "Forbidden", "forbidden: access is refused on purpose", details);
      case 404 -> failure(code, "NotFound", "the server could not find the requested resource",
          details);
      case 410 -> failure(code, "Expired", "too old resource version: 1 (2)", details);
      case 422 -> failure(code, "Invalid", "ListOptions.meta.k8s.io \"\" is invalid:"
          + " sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the"
          + " WatchList feature gate is enabled", details);
      case 429 -> failure(code, "TooManyRequests", "storage is (re)initializing", details);
      case 500 -> failure(code, "InternalError", "Internal error occurred: on purpose", details);
      case 503 -> failure(code, "ServiceUnavailable", "the server is currently unable to handle"
          + " the request", details);
      case 504 -> failure(code, "Timeout", "Timeout: on purpose", details);
      default -> failure(code, "", "a failure on purpose", details);
    };
  }

  private static StatusException failure(int code, String reason, String message,
      ObjectNode details) {
    return new StatusException(code, reason, message, details);
  }
}
