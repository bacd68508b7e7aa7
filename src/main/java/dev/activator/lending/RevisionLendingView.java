package dev.activator.lending;

import dev.activator.revision.Destination;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a revision's permits are shared among activators, as one of them knows.
 *
 * @param sharing null if this activator is alone
 * @param activators addresses of those that share the revision; sorted
 * @param agreed whether all of them have the same view; new pods wait for that where a limit is exact
 * @param pods in order
 */
public record RevisionLendingView(@Nullable Sharing sharing, List<String> activators,
    boolean agreed,
    List<PodShare> pods) {
  public static final RevisionLendingView ALONE = new RevisionLendingView(null, List.of(), true,
      List.of());

  public enum Sharing {
    /** Each pod belongs to one activator, which lends its permits. */
    OWNED,
    /** By Knative's rule, because not all activators lend. */
    SLICES
  }

  /**
   * A pod's permits.
   *
   * @param owner its address; null if several activators use the pod
   * @param owned whether this activator issues the pod's permits
   * @param held permits that this activator may use now
   * @param lent of the owner's permits, to all others
   */
  public record PodShare(Destination pod, @Nullable String owner, boolean owned, int held,
      int lent) {}
}
