package dev.activator.revision;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** An immutable, ordered set of destinations. */
public final class Destinations {
  public static final Destinations NONE = new Destinations(List.of());

  private final List<Destination> sorted;

  private Destinations(List<Destination> sorted) {
    this.sorted = sorted;
  }

  public static Destinations of(Destination... pods) {
    return of(List.of(pods));
  }

  public static Destinations of(Collection<Destination> pods) {
    return switch (pods.size()) {
      case 0 -> NONE;
      case 1 -> new Destinations(List.copyOf(pods));
      default -> new Destinations(pods.stream().sorted().distinct().toList());
    };
  }

  public List<Destination> all() {
    return sorted;
  }

  public boolean contains(Destination pod) {
    return Collections.binarySearch(sorted, pod) >= 0;
  }

  public boolean containsAll(Destinations others) {
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

  public Destinations plus(Destination pod) {
    return contains(pod) ? this : plus(of(pod));
  }

  public Destinations plus(Destinations more) {
    if (isEmpty() || more.isEmpty()) {
      return isEmpty() ? more : this;
    }
    return of(Stream.concat(sorted.stream(), more.sorted.stream()).toList());
  }

  public Destinations minus(Destination pod) {
    return contains(pod) ? where(other -> !other.equals(pod)) : this;
  }

  public Destinations minus(Destinations fewer) {
    return isEmpty() || fewer.isEmpty() ? this : where(pod -> !fewer.contains(pod));
  }

  public Destinations intersect(Destinations others) {
    return isEmpty() || others.isEmpty() ? NONE : where(others::contains);
  }

  private Destinations where(Predicate<Destination> holds) {
    var left = sorted.stream().filter(holds).toList();
    if (left.size() == sorted.size()) {
      return this;
    }
    return left.isEmpty() ? NONE : new Destinations(left);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Destinations that && sorted.equals(that.sorted);
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
