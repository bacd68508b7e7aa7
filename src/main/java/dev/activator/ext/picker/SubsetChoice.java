package dev.activator.ext.picker;

import dev.activator.revision.Destination;
import dev.activator.throttle.PodChoice;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Limits a request to the pods that its gateway names. The revision's own choice decides among those,
 * or else the request runs on the one with the fewest requests, of which some may wait for it.
 *
 * <p><b>Threads.</b> Any.
 */
final class SubsetChoice implements PodChoice {
  private final Set<Destination> allowed;
  private final @Nullable PodChoice ofRevision;
  private final ToIntFunction<Destination> load;
  private volatile boolean isEmpty;
  /** The pod for which this request waits, so that it is one of those that do. */
  private volatile @Nullable Destination awaited;

  /** @param load the number of requests that run on a pod or wait for it */
  SubsetChoice(Set<Destination> allowed, @Nullable PodChoice ofRevision,
      ToIntFunction<Destination> load) {
    this.allowed = allowed;
    this.ofRevision = ofRevision;
    this.load = load;
  }

  /** Whether none of the named pods takes requests. */
  boolean isEmpty() {
    return isEmpty;
  }

  @Override
  public Wanted wanted(List<Destination> pods) {
    var left = pods.stream().filter(allowed::contains).toList();
    isEmpty = left.isEmpty();
    if (isEmpty) {
      return GONE;
    }
    var wanted = ofRevision == null ? ANY : ofRevision.wanted(left);
    if (!(wanted instanceof Any) || left.size() == pods.size()) {
      return wanted;
    }
    var best = best(left);
    awaited = best;
    return new Only(best);
  }

  private Destination best(List<Destination> left) {
    return left.stream().min(ofRevision == null
        ? Comparator.comparingInt(this::loadOfOthers)
        : Comparator.comparingLong(ofRevision::score).reversed()).orElseThrow();
  }

  @Override
  public @Nullable Object tenant() {
    return ofRevision == null ? null : ofRevision.tenant();
  }

  private int loadOfOthers(Destination pod) {
    return load.applyAsInt(pod) - (pod.equals(awaited) ? 1 : 0);
  }

  @Override
  public long score(Destination pod) {
    return ofRevision == null ? -load.applyAsInt(pod) : ofRevision.score(pod);
  }
}
