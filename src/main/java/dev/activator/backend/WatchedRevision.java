package dev.activator.backend;

import dev.activator.loop.Loop;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.PrivateClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Has the latest Kubernetes objects of one revision. Runs a watcher while the Endpoints exist.
 *
 * <p><b>Threads.</b> The revision's loop; any for {@link #view} and {@link #accepts}.
 */
final class WatchedRevision {
  private final Loop loop;
  private final BiFunction<Revision, Loop, RevisionWatcher> watchers;
  private Revision revision;
  private @Nullable PrivateEndpoints pods;
  private @Nullable PrivateClusterIp clusterIp;
  /**
   * The loop of the last request that waited, perhaps before pods were listed; null if none has
   * waited.
   */
  private @Nullable Loop waitsOn;
  private volatile @Nullable RevisionWatcher watcher;

  WatchedRevision(LiveRevision revision, BiFunction<Revision, Loop, RevisionWatcher> watchers) {
    this.revision = revision.spec();
    this.loop = revision.loop();
    this.watchers = watchers;
  }

  Loop loop() {
    return loop;
  }

  void changed(Revision now) {
    var before = revision;
    revision = now;
    if (differs(before, now)) {
      endWatcher();
    }
    if (!watch() && watcher != null) {
      watcher.transport(now.transport());
    }
  }

  private static boolean differs(Revision a, Revision b) {
    return !b.transport().replaces(a.transport())
        || a.probesBeforeReady() != b.probesBeforeReady()
        || !Objects.equals(a.readinessProbe(), b.readinessProbe());
  }

  void listed(PrivateEndpoints now) {
    pods = now;
    if (!watch() && watcher != null) {
      watcher.listed(now.on(revision.protocol()));
    }
  }

  void podsGone() {
    pods = null;
    endWatcher();
  }

  void addressed(PrivateClusterIp now) {
    clusterIp = now;
    if (watcher != null) {
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
    if (pods == null || (watcher != null && !watcher.hasEnded())) {
      return false;
    }
    var created = watchers.apply(revision, loop);
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

  void endWatcher() {
    if (watcher != null) {
      watcher.ended();
      watcher = null;
    }
  }
}
