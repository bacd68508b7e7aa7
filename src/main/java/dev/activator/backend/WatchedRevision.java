package dev.activator.backend;

import dev.activator.backend.policy.Pauses;
import dev.activator.backend.policy.Traits;
import dev.activator.loop.Loop;
import dev.activator.revision.ClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Listing;
import dev.activator.revision.PodListing;
import dev.activator.revision.Revision;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What Kubernetes says of one revision, in whatever order it is said, and the watcher that follows.
 * There is a watcher while the revision is known; what is heard before that is kept for it.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the revision's loop, except {@link #view}.
 */
final class WatchedRevision {
  private final Loop loop;
  private final Probers probers;
  private final BackendSettings settings;
  private final Consumer<HealthyDestinations> out;
  private @Nullable Revision revision;
  private @Nullable PodListing pods;
  private @Nullable ClusterIp clusterIp;
  private volatile @Nullable RevisionWatcher watcher;

  WatchedRevision(Loop loop, Probers probers, BackendSettings settings,
      Consumer<HealthyDestinations> out) {
    this.loop = loop;
    this.probers = probers;
    this.settings = settings;
    this.out = out;
  }

  /** The revision exists; one that was made anew under the same name is watched anew. */
  void exists(Revision now) {
    var before = revision;
    revision = now;
    if (before == null || differs(before, now)) {
      endWatcher();
      watch(now);
    }
  }

  private static boolean differs(Revision a, Revision b) {
    return !a.uid().equals(b.uid()) || a.protocol() != b.protocol()
        || a.probesBeforeReady() != b.probesBeforeReady();
  }

  private void watch(Revision now) {
    var traits = new Traits(now.id(), settings.addressing(), now.probesBeforeReady(),
        new Pauses(settings.probeFrequency()));
    watcher = new RevisionWatcher(traits, loop, probers.of(now.id(), loop), out);
    tellClusterIp();
    tellPods();
  }

  void gone() {
    revision = null;
    endWatcher();
  }

  void listed(@Nullable PodListing now) {
    pods = now;
    tellPods();
  }

  void addressed(ClusterIp now) {
    clusterIp = now;
    tellClusterIp();
  }

  void suspected(Destination destination) {
    if (watcher != null) {
      watcher.suspected(destination);
    }
  }

  void cancelled() {
    if (watcher != null) {
      watcher.cancelled();
    }
    watcher = null;
  }

  /** Whether nothing is left to remember. */
  boolean isForgotten() {
    return revision == null && pods == null && (clusterIp == null || isNone(clusterIp));
  }

  private static boolean isNone(ClusterIp address) {
    return address.http1() == null && address.h2c() == null;
  }

  @Nullable BackendsView view() {
    var now = watcher;
    return now == null ? null : now.view();
  }

  private void tellPods() {
    if (watcher != null && revision != null) {
      watcher.listed(pods == null ? Listing.NONE : pods.on(revision.protocol()));
    }
  }

  private void tellClusterIp() {
    if (watcher != null && revision != null && clusterIp != null) {
      watcher.addressed(clusterIp.on(revision.protocol()));
    }
  }

  private void endWatcher() {
    if (watcher != null) {
      watcher.deleted();
    }
    watcher = null;
  }
}
