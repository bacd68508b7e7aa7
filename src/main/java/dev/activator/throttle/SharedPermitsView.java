package dev.activator.throttle;

import dev.activator.revision.Destination;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
    boolean agreed,
    List<PodShare> pods, List<LostPeer> lost) {
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
