package dev.activator.throttle.policy;

import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiPredicate;

/**
 * Destinations that could not be reached and get no request for a moment. Each comes back by
 * itself, the last one too; sooner if the prober takes it off the list and puts it back.
 *
 * @param untilNanos when each comes back, by the loop's clock
 */
public record SetAside(Map<Destination, Long> untilNanos) {
  public static final SetAside NONE = new SetAside(Map.of());

  public SetAside {
    untilNanos = Map.copyOf(untilNanos);
  }

  /** This one could not be reached either. */
  public SetAside with(Destination destination, long untilNanos) {
    var more = new TreeMap<>(this.untilNanos);
    more.put(destination, untilNanos);
    return new SetAside(more);
  }

  /** What is still aside when these are listed: one that is not was probed since, or is gone. */
  public SetAside amongst(Destinations listed) {
    return untilNanos.isEmpty() ? this : where((destination, _) -> listed.contains(destination));
  }

  /** What is still aside at this time. */
  public SetAside at(long nowNanos) {
    return untilNanos.isEmpty() ? this : where((_, until) -> until - nowNanos > 0);
  }

  public boolean contains(Destination destination) {
    return untilNanos.containsKey(destination);
  }

  /** Those that are aside, in order. */
  public List<Destination> all() {
    return untilNanos.keySet().stream().sorted().toList();
  }

  private SetAside where(BiPredicate<Destination, Long> holds) {
    var fewer = new TreeMap<>(untilNanos);
    fewer.entrySet().removeIf(each -> !holds.test(each.getKey(), each.getValue()));
    return new SetAside(fewer);
  }
}
