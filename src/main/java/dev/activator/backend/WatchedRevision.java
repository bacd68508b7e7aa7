package dev.activator.backend;

import dev.activator.backend.policy.Addressing;
import dev.activator.backend.policy.Pauses;
import dev.activator.backend.policy.Traits;
import dev.activator.loop.Loop;
import dev.activator.revision.ClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Listing;
import dev.activator.revision.PodListing;
import dev.activator.revision.Revision;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What Kubernetes says of one revision, in whatever order it is said, and the watcher that follows.
 * There is a watcher while the revision is known; what is heard before that is kept for it.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the revision's loop, except {@link #view}.
 */
final class WatchedRevision {
  /**
   * How revisions are watched.
   *
   * @param addressing whether a mesh is in the way, as far as is known now
   * @param pauses between probes
   * @param probers who asks
   * @param shared what all watchers use
   */
  record Plan(Supplier<Addressing> addressing, Pauses pauses, Probers probers, Shared shared) {}

  private final Loop loop;
  private final Plan plan;
  private final Consumer<HealthyDestinations> out;
  private @Nullable Revision revision;
  private @Nullable PodListing pods;
  private @Nullable ClusterIp clusterIp;
  private volatile @Nullable RevisionWatcher watcher;

  WatchedRevision(Loop loop, Plan plan, Consumer<HealthyDestinations> out) {
    this.loop = loop;
    this.plan = plan;
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

  /** Pods can be reached in another way now: what is known of them does not count any more. */
  void readdressed() {
    if (revision != null) {
      endWatcher();
      watch(revision);
    }
  }

  private static boolean differs(Revision a, Revision b) {
    return !a.uid().equals(b.uid()) || a.protocol() != b.protocol()
        || a.probesBeforeReady() != b.probesBeforeReady()
        || !Objects.equals(a.readinessProbe(), b.readinessProbe());
  }

  private void watch(Revision now) {
    var traits = new Traits(now.id(), plan.addressing().get(), now.probesBeforeReady(),
        plan.pauses());
    watcher = new RevisionWatcher(traits, loop, plan.probers().of(now, loop), plan.shared(), out);
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

  /** Says where requests can go now, if they can go anywhere. */
  void tell(Follower follower) {
    var now = view();
    if (now != null && !now.published().pods().isEmpty()) {
      follower.accept(now.published());
    }
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
