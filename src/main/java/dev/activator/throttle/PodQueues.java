package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.policy.AdaptiveLifo;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one revision that wait for one pod each, which may be that of their tenant. For
 * each pod, those that were returned run first, then the others in the order of the revision's queue.
 *
 * <p><b>Threads.</b> The revision's loop. Any thread may call {@link #pods}, {@link #waitingFor} and
 * {@link #size}.
 */
final class PodQueues {
  static final Comparator<QueuedRequest> BY_ARRIVAL = (one, other) -> Long
      .signum(one.sinceNanos() - other.sinceNanos());

  private record PodQueue(SequencedSet<QueuedRequest> returned,
      SequencedSet<QueuedRequest> others) {
    PodQueue() {
      this(new LinkedHashSet<>(), new LinkedHashSet<>());
    }

    boolean isEmpty() {
      return returned.isEmpty() && others.isEmpty();
    }

    SequencedSet<QueuedRequest> groupOf(QueuedRequest request) {
      return request.isRetry() ? returned : others;
    }

    QueuedRequest next(AdaptiveLifo order) {
      if (!returned.isEmpty()) {
        return returned.getFirst();
      }
      var newest = others.getLast();
      return order.overtakes(newest.sinceNanos()) ? newest : others.getFirst();
    }
  }

  /** None of the queues is empty. */
  private final Map<Object, PodQueue> byPod = new LinkedHashMap<>();
  private final AtomicInteger size = new AtomicInteger();
  /** How many requests wait for which pod; never 0. */
  private final Map<Object, Integer> sizes = new ConcurrentHashMap<>(0);

  /** The pods that requests wait for, or the tenants whose pods they wait for. */
  Set<Object> pods() {
    return sizes.keySet();
  }

  /** How many requests wait for this pod. */
  int waitingFor(Destination pod) {
    return sizes.getOrDefault(pod, 0);
  }

  int size() {
    return size.get();
  }

  /** @param pod a {@link Destination}, or the tenant that has the pod */
  void add(QueuedRequest request, Object pod) {
    request.waitsFor = pod;
    byPod.computeIfAbsent(pod, _ -> new PodQueue()).groupOf(request).add(request);
    size.getAndIncrement();
    sizes.merge(pod, 1, Integer::sum);
  }

  boolean remove(QueuedRequest request, Object pod) {
    var waiting = byPod.get(pod);
    if (waiting == null || !waiting.groupOf(request).remove(request)) {
      return false;
    }
    size.getAndDecrement();
    sizes.computeIfPresent(pod, (_, before) -> before == 1 ? null : before - 1);
    if (waiting.isEmpty()) {
      byPod.remove(pod);
    }
    return true;
  }

  /** Of the requests that wait for one of these pods, the next; null if there is none. */
  @Nullable QueuedRequest next(Stream<Destination> ofThese, AdaptiveLifo order) {
    return ofThese.map(byPod::get).filter(Objects::nonNull).map(waiting -> waiting.next(order))
        .reduce((one, other) -> one.runsBefore(other, order) ? one : other).orElse(null);
  }

  /** The request that runs next on the pod of a tenant; null if none waits for that. */
  @Nullable QueuedRequest firstOf(Object tenant, AdaptiveLifo order) {
    var waiting = byPod.get(tenant);
    return waiting == null ? null : waiting.next(order);
  }

  /** The tenants whose pods requests wait for. */
  List<Object> tenants() {
    return byPod.keySet().stream().filter(it -> !(it instanceof Destination)).toList();
  }

  Stream<SequencedSet<QueuedRequest>> groups() {
    return byPod.values().stream().flatMap(pod -> Stream.of(pod.returned(), pod.others()));
  }

  /** Restores the order of arrival. */
  void sort() {
    byPod.replaceAll((_, waiting) -> new PodQueue(sorted(waiting.returned().stream()),
        sorted(waiting.others().stream())));
  }

  static SequencedSet<QueuedRequest> sorted(Stream<QueuedRequest> requests) {
    return requests.sorted(BY_ARRIVAL).collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** How many requests wait for which pod, other than that of their tenant. */
  Map<Destination, Integer> sizes() {
    if (sizes.isEmpty()) {
      return Map.of();
    }
    var ofPods = new TreeMap<Destination, Integer>();
    sizes.forEach((pod, number) -> {
      if (pod instanceof Destination destination) {
        ofPods.put(destination, number);
      }
    });
    return ofPods;
  }

  void clear() {
    byPod.clear();
    size.set(0);
    sizes.clear();
  }
}
