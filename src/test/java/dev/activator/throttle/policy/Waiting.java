package dev.activator.throttle.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Who waits: first those that had their turn and could not be delivered, then the others.
 *
 * @param returned the former, in the order in which they came back
 * @param queue the latter, in the order in which they came
 * @param order in which order the latter run
 */
public record Waiting(List<Waiter> returned, List<Waiter> queue, AdaptiveLifo order) {
  static final Waiting NOBODY = new Waiting(List.of(), List.of(), AdaptiveLifo.BY_ARRIVAL);

  /** One that waits, and since when. */
  public record Waiter(long number, long sinceNanos) {}

  public Waiting {
    returned = List.copyOf(returned);
    queue = List.copyOf(queue);
  }

  Waiting plus(Waiter waiter) {
    return new Waiting(returned, appended(queue, waiter), order);
  }

  Waiting plusReturned(Waiter waiter) {
    return new Waiting(appended(returned, waiter), queue, order);
  }

  Waiting minus(Waiter waiter) {
    return new Waiting(without(returned, waiter), without(queue, waiter), order);
  }

  Waiting ordered(AdaptiveLifo now) {
    return new Waiting(returned, queue, now);
  }

  Waiting none() {
    return new Waiting(List.of(), List.of(), order);
  }

  boolean isReturned(Waiter waiter) {
    return returned.contains(waiter);
  }

  /** Who runs next; the queue is not empty. */
  Waiter next(long nowNanos) {
    if (!returned.isEmpty()) {
      return returned.getFirst();
    }
    if (!order.newestFirst()) {
      return queue.getFirst();
    }
    if (order.overtakes(queue.getLast().sinceNanos())) {
      return queue.getLast();
    }
    return queue.stream().filter(waiter -> order.isInTime(nowNanos - waiter.sinceNanos()))
        .findFirst().orElse(queue.getFirst());
  }

  /** All of them. */
  List<Waiter> all() {
    return Stream.concat(returned.stream(), queue.stream()).toList();
  }

  public boolean isEmpty() {
    return returned.isEmpty() && queue.isEmpty();
  }

  public int size() {
    return returned.size() + queue.size();
  }

  private static List<Waiter> appended(List<Waiter> to, Waiter waiter) {
    var longer = new ArrayList<>(to);
    longer.add(waiter);
    return longer;
  }

  private static List<Waiter> without(List<Waiter> from, Waiter waiter) {
    return from.stream().filter(other -> !other.equals(waiter)).toList();
  }
}
