package dev.activator.revision;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** An immutable, ordered set of destinations. */
public final class DestinationSet {
  public static final DestinationSet NONE = new DestinationSet(List.of());

  private final List<Destination> sorted;

  private DestinationSet(List<Destination> sorted) {
    this.sorted = sorted;
  }

  public static DestinationSet of(Destination... pods) {
    return of(List.of(pods));
  }

  public static DestinationSet of(Collection<Destination> pods) {
    return switch (pods.size()) {
      case 0 -> NONE;
      case 1 -> new DestinationSet(List.copyOf(pods));
      default -> new DestinationSet(pods.stream().sorted().distinct().toList());
    };
  }

  public List<Destination> all() {
    return sorted;
  }

  public boolean contains(Destination pod) {
    return Collections.binarySearch(sorted, pod) >= 0;
  }

  public boolean containsAll(DestinationSet others) {
    int found = 0;
    for (var pod : sorted) {
      if (found < others.size() && pod.equals(others.sorted.get(found))) {
        found++;
      }
    }
    return found == others.size();
  }

  public boolean isEmpty() {
    return sorted.isEmpty();
  }

  public int size() {
    return sorted.size();
  }

  public DestinationSet plus(Destination pod) {
    return contains(pod) ? this : plus(of(pod));
  }

  public DestinationSet plus(DestinationSet more) {
    if (isEmpty() || more.isEmpty()) {
      return isEmpty() ? more : this;
    }
    return of(Stream.concat(sorted.stream(), more.sorted.stream()).toList());
  }

  public DestinationSet minus(Destination pod) {
    return contains(pod) ? where(other -> !other.equals(pod)) : this;
  }

  public DestinationSet minus(DestinationSet fewer) {
    return isEmpty() || fewer.isEmpty() ? this : where(pod -> !fewer.contains(pod));
  }

  public DestinationSet intersect(DestinationSet others) {
    return isEmpty() || others.isEmpty() ? NONE : where(others::contains);
  }

  private DestinationSet where(Predicate<Destination> condition) {
    var left = sorted.stream().filter(condition).toList();
    if (left.size() == sorted.size()) {
      return this;
    }
    return left.isEmpty() ? NONE : new DestinationSet(left);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DestinationSet that && sorted.equals(that.sorted);
  }

  @Override
  public int hashCode() {
    return sorted.hashCode();
  }

  @Override
  public String toString() {
    return sorted.toString();
  }
}
