package dev.activator.backend;

import dev.activator.revision.ClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.PodListing;
import dev.activator.revision.Revision;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What Kubernetes says of one revision, in whatever order it is said, and the watcher of its pods.
 * Endpoints create the watcher and cancel it; it begins once the Revision is known, too.
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

  /** Pods can be reached in another way now: what is known of them does not count any more. */
  void readdressed() {
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

  /** Whether nothing is left to remember. */
  boolean isForgotten() {
    return revision == null && pods == null
        && (clusterIp == null || (clusterIp.http1() == null && clusterIp.h2c() == null));
  }

  /** What is known of its pods; null while they are not watched. */
  @Nullable BackendsView view() {
    var now = watcher;
    return now == null ? null : now.view();
  }

  /** Tells where requests can go now, if they can go anywhere. */
  void tell(Subscription subscription) {
    var now = view();
    if (now != null && !now.published().pods().isEmpty()) {
      subscription.accept(now.published());
    }
  }

  /** Begins to watch if both objects are there and no watcher is at work; whether it did. */
  private boolean watch() {
    if (revision == null || pods == null || (watcher != null && !watcher.hasEnded())) {
      return false;
    }
    var fresh = watchers.apply(revision);
    watcher = fresh;
    if (clusterIp != null) {
      fresh.addressed(clusterIp.on(revision.protocol()));
    }
    fresh.listed(pods.on(revision.protocol()));
    return true;
  }

  private void endWatcher() {
    if (watcher != null) {
      watcher.deleted();
      watcher = null;
    }
  }
}
