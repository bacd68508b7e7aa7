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
 * or else the request runs on the one with the fewest requests.
 */
final class SubsetChoice implements PodChoice {
  private final Set<Destination> allowed;
  private final @Nullable PodChoice ofRevision;
  private final ToIntFunction<Destination> inFlight;
  private volatile boolean isEmpty;

  /** @param inFlight the number of requests that run on a pod */
  SubsetChoice(Set<Destination> allowed, @Nullable PodChoice ofRevision,
      ToIntFunction<Destination> inFlight) {
    this.allowed = allowed;
    this.ofRevision = ofRevision;
    this.inFlight = inFlight;
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
    return wanted instanceof Any && left.size() < pods.size() ? new Only(best(left)) : wanted;
  }

  private Destination best(List<Destination> left) {
    return left.stream().min(ofRevision == null
        ? Comparator.comparingInt(inFlight)
        : Comparator.comparingLong(ofRevision::score).reversed()).orElseThrow();
  }

  @Override
  public long score(Destination pod) {
    return ofRevision == null ? -inFlight.applyAsInt(pod) : ofRevision.score(pod);
  }
}
