package dev.activator.throttle.admission;

import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;

/** Why a request will not run. */
public sealed interface Rejection {
  /**
   * As many wait as may.
   *
   * @param retryAfterSeconds when there may be room; at least 1
   */
  record QueueFull(RevisionId revision, int retryAfterSeconds) implements Rejection {}

  /**
   * No start of the revision was ever quick enough for the request's patience.
   *
   * @param retryAfterSeconds when it may have started; at least 1
   */
  record TooLate(RevisionId revision, int retryAfterSeconds) implements Rejection {}

  /** The revision was deleted while the request waited. */
  record RevisionGone(RevisionId revision) implements Rejection {}

  /** The revision's containers failed to start while the request waited. */
  record CannotStart(RevisionId revision, StartFailure failure) implements Rejection {}
}
