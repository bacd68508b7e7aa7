package dev.activator.revision;

import java.time.Duration;

/** The result of a read or write of a Kubernetes {@code scale} subresource. */
public sealed interface ScaleApiResult {
  /**
   * The subresource as it is now.
   *
   * @param replicas there should be
   * @param current how many its status counts
   * @param resourceVersion that a write must carry
   */
  record Found(int replicas, int current, String resourceVersion) implements ScaleApiResult {}

  /**
   * It was not read, or not written.
   *
   * @param message for people: verb, object and namespace, and what the server said
   * @param retryAfter as the server requested; zero if it did not
   */
  record Refused(Reason reason, String message, Duration retryAfter) implements ScaleApiResult {
    public Refused(Reason reason, String message) {
      this(reason, message, Duration.ZERO);
    }
  }

  /** Why it was refused, by what helps against it. */
  enum Reason {
    /** Another client wrote first: read again. */
    CONFLICT,
    /** There is no such object. */
    NOT_FOUND,
    /** There is no such kind, or it has no {@code scale}. */
    NOT_SCALABLE,
    /** We lack a right. */
    FORBIDDEN,
    /** The server rejects the value. */
    INVALID,
    /** No answer in time, or the server is overloaded: it may have been written. */
    UNAVAILABLE
  }
}
