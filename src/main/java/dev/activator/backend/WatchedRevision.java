package dev.activator.backend;

import dev.activator.loop.Loop;
import dev.activator.revision.PrivateClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Holds the latest Kubernetes objects of one revision, which may come in any order. Runs a watcher
 * while both the Revision and the Endpoints exist.
 *
 * <p><b>Threads.</b> The revision's loop; any for {@link #view} and {@link #accepts}.
 */
final class WatchedRevision {
  private final Function<Revision, RevisionWatcher> watchers;
  private @Nullable Revision revision;
  private @Nullable PrivateEndpoints pods;
  private @Nullable PrivateClusterIp clusterIp;
  /**
   * The loop of the last request that waited, perhaps before pods were listed; null if none has
   * waited.
   */
  private @Nullable Loop waitsOn;
  private volatile @Nullable RevisionWatcher watcher;

  WatchedRevision(Function<Revision, RevisionWatcher> watchers) {
    this.watchers = watchers;
  }

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

  void listed(PrivateEndpoints now) {
    pods = now;
    if (!watch() && watcher != null && revision != null) {
      watcher.listed(now.on(revision.protocol()));
    }
  }

  void podsGone() {
    pods = null;
    endWatcher();
  }

  void addressed(PrivateClusterIp now) {
    clusterIp = now;
    if (watcher != null && revision != null) {
      watcher.addressed(now.on(revision.protocol()));
    }
  }

  void addressingChanged() {
    endWatcher();
    watch();
  }

  void suspected(Destination destination) {
    if (watcher != null) {
      watcher.suspected(destination);
    }
  }

  void awaited(Loop on) {
    waitsOn = on;
    if (watcher != null) {
      watcher.awaited(on);
    }
  }

  void watchChanged(boolean open) {
    if (watcher != null) {
      watcher.watchChanged(open);
    }
  }

  /** Publishes nothing. */
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

  @Nullable RevisionBackendsView view() {
    var now = watcher;
    return now == null ? null : now.view();
  }

  /** How long a pod has accepted connections; null if it does not. */
  @Nullable Duration accepts(Destination pod) {
    var now = watcher;
    return now == null ? null : now.accepts(pod);
  }

  /** @return whether it started a watcher */
  private boolean watch() {
    if (revision == null || pods == null || (watcher != null && !watcher.hasEnded())) {
      return false;
    }
    var created = watchers.apply(revision);
    watcher = created;
    if (clusterIp != null) {
      created.addressed(clusterIp.on(revision.protocol()));
    }
    if (waitsOn != null) {
      created.awaited(waitsOn);
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
