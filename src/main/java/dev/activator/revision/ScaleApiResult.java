package dev.activator.revision;

import java.time.Duration;

/** The result of a read or write of a Kubernetes {@code scale} subresource. */
public sealed interface ScaleApiResult {
  /**
   * The subresource as it is now.
   *
   * @param replicas the number in the spec
   * @param current the number in the status
   * @param resourceVersion the version that a write must name
   */
  record Found(int replicas, int current, String resourceVersion) implements ScaleApiResult {}

  /**
   * What is scaled has no replicas, and its fields are neither those of a running one nor those of a
   * stopped one. Its ready pods show whether it runs.
   */
  record Undecided(String resourceVersion) implements ScaleApiResult {
    public Found with(int ready) {
      int replicas = ready > 0 ? 1 : 0;
      return new Found(replicas, replicas, resourceVersion);
    }
  }

  /**
   * The scale was not read, or not written.
   *
   * @param message a text for people: verb, object, namespace, and the server's message
   * @param retryAfter the pause that the server requested; zero if it requested none
   */
  record Refused(Reason reason, String message, Duration retryAfter) implements ScaleApiResult {
    public Refused(Reason reason, String message) {
      this(reason, message, Duration.ZERO);
    }
  }

  /** The reason of a refusal. It decides whether and when the request is retried. */
  enum Reason {
    /** Another client wrote first. The scale must be read again. */
    CONFLICT,
    /** The object does not exist. */
    NOT_FOUND,
    /** The API does not serve the kind, or the kind has no {@code scale}. */
    NOT_SCALABLE,
    /** The activator lacks a permission. */
    FORBIDDEN,
    /** The server rejected the value. */
    INVALID,
    /** The server did not answer in time, or is overloaded. The write may have taken effect. */
    UNAVAILABLE,
    /** What starts and stops it, which is not the API, failed. It may have taken effect. */
    FAILED
  }
}
