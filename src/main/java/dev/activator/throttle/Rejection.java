package dev.activator.throttle;

import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;

/** Why a request will not run. */
public sealed interface Rejection {
  /** As many wait as may. */
  record QueueFull(RevisionId revision) implements Rejection {}

  /** The revision was deleted while the request waited. */
  record RevisionGone(RevisionId revision) implements Rejection {}

  /** The revision's containers failed to start while the request waited. */
  record CannotStart(RevisionId revision, StartFailure failure) implements Rejection {}
}
