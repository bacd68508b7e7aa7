package dev.activator.discovery;

import dev.activator.loop.Topic;
import dev.activator.revision.RevisionStartFailure.ContainerFailure;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress;

/**
 * Publishes how the pods of revisions with waiting requests start. An extension watches the pods, and
 * says what it sees; without it nothing is published.
 *
 * <p><b>Threads.</b> Topics get their subscribers before the start, and publish on the thread of the
 * caller, which is the cluster's loop.
 */
public final class PodStarts {
  private final RevisionChangePublisher<ContainerFailure> failures = new RevisionChangePublisher<>(
      "pods that do not start");
  private final RevisionChangePublisher<RevisionStartProgress> progress = new RevisionChangePublisher<>(
      "pods that start");
  private final Topic<RevisionId> slow = new Topic<>("revisions that take long to start");

  /** Publishes revisions whose pods should be watched for some seconds, whether or not requests wait here. */
  public Topic<RevisionId> slow() {
    return slow;
  }

  /** Publishes that no pod of a revision with waiting requests can start, and that one may start again. */
  public Topic<ContainerFailure> failures() {
    return failures.changes();
  }

  /** Publishes the start progress of revisions with waiting requests, while their pods are watched. */
  public Topic<RevisionStartProgress> progress() {
    return progress.changes();
  }

  /** Publishes the last progress of a revision when its pods are no longer watched. */
  public Topic<RevisionStartProgress> progressEnded() {
    return progress.ends();
  }

  public void failure(ContainerFailure now) {
    failures.changed(now.revision(), now);
    if (now.failure() == null) {
      failures.gone(now.revision());
    }
  }

  /** The watch of the pods has begun, or they have changed. */
  public void progress(RevisionStartProgress now) {
    progress.changed(now.revision(), now);
  }

  /** The watch has ended. */
  public void progressEnded(RevisionId revision) {
    progress.gone(revision);
  }
}
