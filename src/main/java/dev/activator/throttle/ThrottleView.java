package dev.activator.throttle;

import dev.activator.throttle.policy.WaitLimits;
import dev.activator.revision.Destination;
import dev.activator.revision.ColdStartRules;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.throttle.policy.DestinationSubset.ActivatorIndex;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of one revision's throttler.
 *
 * @param containerConcurrency 0 for no limit
 * @param capacity the capacity of this activator; {@link Integer#MAX_VALUE} for no limit
 * @param oldestWait zero if the queue is empty
 * @param newestFirst whether new requests run first, because callers leave the queue before they
 *     are served
 * @param pods in order, including removed ones with running requests
 */
public record ThrottleView(RevisionId revision, int containerConcurrency, int capacity,
    int inFlight, int queued, Duration oldestWait, boolean newestFirst, List<PodLoad> pods) {
  public record PodLoad(Destination destination, int inFlight) {}

  /**
   * Explains why a request waits.
   *
   * @param destinations the number of destinations that this activator sends requests to; others
   *     may still run requests
   * @param ejected the destinations that are ejected because they could not be reached
   * @param rules null if the revision has none
   * @param lending the lending with other activators
   */
  public record Details(ThrottleView now, int destinations, Queue queue, Start start,
      ActivatorIndex activator, List<Destination> ejected, @Nullable ColdStartRules rules,
      SharedPermitsView lending) {}

  /**
   * @param timeout zero if only the revision's own timeouts apply
   * @param oldest the longest waits, in descending order
   * @param from the number of requests from each address, among the first hundred
   * @param bound those that may not run on each pod
   * @param needPods the number of pods that the requests need; null unless each pod serves one tenant
   *     at a time
   */
  public record Queue(int capacity, long heldBytes, WaitLimits limits, List<Duration> oldest,
      Map<String, Integer> from, Bound bound, @Nullable Integer needPods) {}

  /**
   * Requests that may run on certain pods only.
   *
   * @param byPod how many may run on one pod only, by pod
   * @param ofSeveral how many may run on several pods, but not on all
   */
  public record Bound(Map<Destination, Integer> byPod, int ofSeveral) {
    /** How many there are. */
    public int sum() {
      return byPod.values().stream().mapToInt(Integer::intValue).sum() + ofSeveral;
    }
  }

  /**
   * @param requested the time since the first request was queued for a start; null if none is
   * @param usual the median of the last starts; zero if unknown
   */
  public record Start(@Nullable Duration requested, Duration usual,
      @Nullable RevisionStartFailure failure) {}

  /**
   * A snapshot of how a revision's permits are shared, as one activator knows it.
   *
   * @param sharing null if this activator is alone
   * @param activators the sorted addresses of the activators that share the revision
   * @param agreed whether all of them have the same view; where the limit is exact, a new pod is not
   *     used before that
   * @param pods in order
   * @param lost the activators whose link is lost
   */
  public record SharedPermitsView(@Nullable Sharing sharing, List<String> activators,
      boolean agreed, List<PodShare> pods, List<LostPeer> lost) {
    public static final SharedPermitsView ALONE = new SharedPermitsView(null, List.of(), true,
        List.of(), List.of());

    public enum Sharing {
      /** Each pod belongs to one activator, which lends its permits. */
      OWNED,
      /** Pods are divided by Knative's rule, because not all activators lend. */
      SLICES
    }

    /**
     * A pod's permits.
     *
     * @param owner its address; null if several activators use the pod
     * @param owned whether this activator issues the pod's permits
     * @param permits the number of permits that this activator may use now
     * @param lent the number of the owner's permits that are lent
     */
    public record PodShare(Destination pod, @Nullable String owner, boolean owned, int permits,
        int lent) {}

    /**
     * An activator whose link is lost. Its requests may still run.
     *
     * @param since how long the link has been lost
     * @param lent the permits of this activator's pods that are reserved for it
     * @param remaining how long permits are still reserved for it, unless it comes back before; zero
     *     if none are
     */
    public record LostPeer(String address, Duration since, int lent, Duration remaining) {}
  }
}
