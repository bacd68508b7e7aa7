package dev.activator.throttle;

import dev.activator.throttle.ThrottleView.SharedPermitsView;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Divides the permits of pods between this activator and others that send requests to the same pods.
 * A request never calls it: it sets the number of permits of each pod ({@link PodPermits#setPermits}), and
 * a request takes one of those.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Errors.</b> None are thrown. An implementation that cannot reach other activators decides by
 * itself which pods this one may use.
 *
 * <p><b>Source.</b> Knative has no such thing: each activator uses its own slice of the pods
 * ({@code assignSlice}), and slices of different views overlap. {@link #NONE} is that.
 */
public interface PermitSharing {
  /** Each activator uses its slice of the pods alone, as in Knative. */
  PermitSharing NONE = (_, _) -> RevisionSharing.NONE;

  /**
   * Makes the sharing of one revision's permits. It is inactive until {@link RevisionSharing#open}.
   */
  RevisionSharing revision(LocalRevision revision, SharedPods pods);

  /** Sets a listener for revisions that other activators have, and this one does not know yet. */
  default void onUnknownRevision(Consumer<RevisionId> listener) {}

  /**
   * What this activator has of a revision.
   *
   * @param loop the revision's loop
   * @param permits the permits that this activator has
   * @param queue the requests that wait here
   */
  record LocalRevision(RevisionId id, Loop loop, PodPermits permits, LocalQueue queue) {}

  /**
   * The sharing of one revision.
   *
   * <p><b>Threads.</b> The revision's loop, except where a method says otherwise.
   */
  interface RevisionSharing {
    RevisionSharing NONE = new RevisionSharing() {
    };

    /** Begins to share. Call as soon as the loop may use the permits. <b>Threads.</b> Any. */
    default void open() {}

    /**
     * Whether {@link PodPermits#setPermits} decides how many requests may run on each pod. If not, this
     * activator uses its slice of the pods. {@link LocalQueue#updateSubset} is called after a change.
     */
    default boolean isActive() {
      return false;
    }

    /** Call after each change of the pods to which requests may be sent. */
    default void onPods(SharedPods now) {}

    /**
     * Call after each change of the activators.
     *
     * @param addresses the sorted addresses of the revision's public Endpoints; those of pods while
     *     activators are bypassed
     */
    default void onActivators(List<String> addresses) {}

    /** Call when requests have entered or left the queue, or permits were released. */
    default void onQueue() {}

    /**
     * The number of requests that are queued at other activators. They count for the maximum length
     * of the queue. <b>Threads.</b> Any.
     */
    default int queuedElsewhere() {
      return 0;
    }

    default SharedPermitsView view() {
      return SharedPermitsView.ALONE;
    }

    default void close() {}
  }

  /**
   * The permits of a revision's pods that this activator has.
   *
   * <p><b>Threads.</b> The revision's loop.
   */
  interface PodPermits {
    /**
     * Sets how many requests may run on a pod at once. If more are running, they continue, and the
     * limit falls as they end.
     *
     * @param lease after which no request may start; null for none
     * @return the limit now
     */
    int setPermits(Destination pod, int permits, @Nullable PermitLease lease);

    int permits(Destination pod);

    int running(Destination pod);

    /** The requests in flight of each pod that has any. */
    Map<Destination, Integer> running();
  }

  /**
   * The requests of a revision that wait here.
   *
   * <p><b>Threads.</b> The revision's loop.
   */
  interface LocalQueue {
    int queued();

    /** How many of these may run on any pod. */
    default int queuedForAnyPod() {
      return queued();
    }

    /**
     * How many of the others wait for a pod, by pod. One that may run on several can be counted at
     * each.
     */
    default Map<Destination, Integer> queuedByPod() {
      return Map.of();
    }

    /** When the oldest queued request began to wait. Call only while requests are queued. */
    long oldestNanos();

    /** Grants queued requests the permits that were added. */
    void grant();

    /** Divides the pods again, because sharing was switched on or off. */
    void updateSubset();
  }

  /**
   * The pods to which this activator may send requests, and their limit.
   *
   * @param pods in order; none if requests go through a ClusterIP, or have no limit
   * @param limit the limit of requests at a pod; 0 for none
   * @param ejected those that are ejected because they could not be reached
   * @param slice this activator's pods by Knative's rule
   * @param exact whether the limit must be kept even if starts take longer: a pod is not used
   *     before all activators agree who owns it
   * @param longestRequest the time after which each request has ended
   */
  record SharedPods(List<Destination> pods, Set<Destination> ejected, Set<Destination> slice,
      int limit, boolean exact, Duration longestRequest) {
    public SharedPods {
      pods = List.copyOf(pods);
      ejected = Set.copyOf(ejected);
      slice = Set.copyOf(slice);
    }

    /** The value while there is no pod. */
    static SharedPods withoutPods(int limit, boolean exact, Duration longestRequest) {
      return new SharedPods(List.of(), Set.of(), Set.of(), limit, exact, longestRequest);
    }
  }

  /**
   * The time until which borrowed permits may be used. An expired lease cannot be extended.
   *
   * <p><b>Threads.</b> Any may check; one at a time may extend.
   */
  final class PermitLease {
    private volatile long untilNanos;

    /** @param untilNanos by the clock of the loops */
    public PermitLease(long untilNanos) {
      this.untilNanos = untilNanos;
    }

    public boolean isOver(long nowNanos) {
      return untilNanos - nowNanos <= 0;
    }

    /** Extends the lease. False if it has already expired. */
    public boolean extend(long nowNanos, long until) {
      if (isOver(nowNanos)) {
        return false;
      }
      if (until - untilNanos > 0) {
        untilNanos = until;
      }
      return true;
    }
  }
}
