package dev.activator.backend;

import dev.activator.revision.ClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.PodListing;
import dev.activator.revision.Revision;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The latest Kubernetes objects of one revision, which may come in any order, and the watcher of its
 * pods. The watcher starts once both the Endpoints and the Revision are known, and ends with either.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the revision's loop, except {@link #view}.
 */
final class WatchedRevision {
  private final Function<Revision, RevisionWatcher> watchers;
  private @Nullable Revision revision;
  private @Nullable PodListing pods;
  private @Nullable ClusterIp clusterIp;
  private volatile @Nullable RevisionWatcher watcher;

  /** @param watchers makes the watcher of a revision */
  WatchedRevision(Function<Revision, RevisionWatcher> watchers) {
    this.watchers = watchers;
  }

  /** The Revision exists; one that was created anew under the same name is watched anew. */
  void exists(Revision now) {
    var before = revision;
    revision = now;
    if (before != null && differs(before, now)) {
      endWatcher();
    }
    watch();
  }

  private static boolean differs(Revision a, Revision b) {
    return !a.uid().equals(b.uid()) || a.protocol() != b.protocol()
        || a.probesBeforeReady() != b.probesBeforeReady()
        || !Objects.equals(a.readinessProbe(), b.readinessProbe());
  }

  void gone() {
    revision = null;
    endWatcher();
  }

  /** The Endpoints list these pods now. */
  void listed(PodListing now) {
    pods = now;
    if (!watch() && watcher != null && revision != null) {
      watcher.listed(now.on(revision.protocol()));
    }
  }

  /** The Endpoints are deleted. */
  void podsGone() {
    pods = null;
    endWatcher();
  }

  /** The private Service has this address now. */
  void addressed(ClusterIp now) {
    clusterIp = now;
    if (watcher != null && revision != null) {
      watcher.addressed(now.on(revision.protocol()));
    }
  }

  /** How pods can be reached has changed: they are watched anew. */
  void addressingChanged() {
    endWatcher();
    watch();
  }

  void suspected(Destination destination) {
    if (watcher != null) {
      watcher.suspected(destination);
    }
  }

  /** Nothing is published any more. */
  void cancelled() {
    if (watcher != null) {
      watcher.cancelled();
      watcher = null;
    }
  }

  /** Whether none of the revision's objects exists. */
  boolean isEmpty() {
    return revision == null && pods == null
        && (clusterIp == null || (clusterIp.http1() == null && clusterIp.h2c() == null));
  }

  /** What is known of its pods; null while they are not watched. */
  @Nullable BackendsView view() {
    var now = watcher;
    return now == null ? null : now.view();
  }

  /** Passes on where requests can go now, if there is a destination. */
  void replayTo(Subscription subscription) {
    var now = view();
    if (now != null && !now.published().pods().isEmpty()) {
      subscription.accept(now.published());
    }
  }

  /** Starts a watcher if both objects are known and none runs; returns whether it did. */
  private boolean watch() {
    if (revision == null || pods == null || (watcher != null && !watcher.hasEnded())) {
      return false;
    }
    var created = watchers.apply(revision);
    watcher = created;
    if (clusterIp != null) {
      created.addressed(clusterIp.on(revision.protocol()));
    }
    created.listed(pods.on(revision.protocol()));
    return true;
  }

  private void endWatcher() {
    if (watcher != null) {
      watcher.deleted();
      watcher = null;
    }
  }
}
