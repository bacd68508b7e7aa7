package dev.activator.throttle.policy;

import java.util.List;
import java.util.stream.Stream;

/**
 * Who waits, in order: first those that had their turn and could not be delivered, then the others.
 *
 * @param returned the former, in the order in which they came back
 * @param queue the latter, in the order in which they came
 */
public record Waiting(List<Long> returned, List<Long> queue) {
  static final Waiting NOBODY = new Waiting(List.of(), List.of());

  public Waiting {
    returned = List.copyOf(returned);
    queue = List.copyOf(queue);
  }

  Waiting plus(long waiter) {
    return new Waiting(returned, appended(queue, waiter));
  }

  Waiting plusReturned(long waiter) {
    return new Waiting(appended(returned, waiter), queue);
  }

  Waiting minus(long waiter) {
    return new Waiting(without(returned, waiter), without(queue, waiter));
  }

  /** All of them. */
  List<Long> all() {
    return Stream.concat(returned.stream(), queue.stream()).toList();
  }

  public boolean isEmpty() {
    return returned.isEmpty() && queue.isEmpty();
  }

  public int size() {
    return returned.size() + queue.size();
  }

  private static List<Long> appended(List<Long> to, long waiter) {
    return Stream.concat(to.stream(), Stream.of(waiter)).toList();
  }

  private static List<Long> without(List<Long> from, long waiter) {
    return from.stream().filter(other -> other != waiter).toList();
  }
}
