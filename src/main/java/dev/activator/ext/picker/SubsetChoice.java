package dev.activator.ext.picker;

import dev.activator.revision.Destination;
import dev.activator.throttle.PodChoice;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Limits a request to the pods that its gateway names. The revision's own choice decides among those,
 * or else the request runs on the one with the fewest requests.
 *
 * <p><b>Threads.</b> Any.
 */
final class SubsetChoice implements PodChoice {
  private final Set<Destination> allowed;
  private final @Nullable PodChoice ofRevision;
  private final ToIntFunction<Destination> load;
  private volatile boolean isEmpty;

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
    return wanted instanceof Any && left.size() < pods.size()
        ? new AnyOf(Set.copyOf(left))
        : wanted;
  }

  @Override
  public @Nullable Object tenant() {
    return ofRevision == null ? null : ofRevision.tenant();
  }

  @Override
  public long score(Destination pod) {
    return ofRevision == null ? -load.applyAsInt(pod) : ofRevision.score(pod);
  }
}
