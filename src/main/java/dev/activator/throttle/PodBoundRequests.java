package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.PodBoundRequests.WaitsFor.AnyOf;
import dev.activator.throttle.PodBoundRequests.WaitsFor.Pod;
import dev.activator.throttle.PodBoundRequests.WaitsFor.TenantsPod;
import dev.activator.throttle.policy.AdaptiveLifo;
import java.util.Collection;
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
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one revision that wait for certain pods. Of those that wait for the same, those that
 * were returned run first, then the others in the order of the revision's queue.
 *
 * <p><b>Threads.</b> The revision's loop. Any thread may call {@link #isAwaited}, {@link #waitingFor} and
 * {@link #size}.
 */
final class PodBoundRequests {
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

    PodQueue sorted() {
      return new PodQueue(PodBoundRequests.sorted(returned.stream()),
          PodBoundRequests.sorted(others.stream()));
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
  private final Map<WaitsFor, PodQueue> queues = new LinkedHashMap<>();
  private final AtomicInteger size = new AtomicInteger();
  /** How many requests wait for which pods; never 0. */
  private final Map<WaitsFor, Integer> sizes = new ConcurrentHashMap<>(0);
  /** The sets of pods among the keys of {@code sizes}. */
  private final Set<AnyOf> sets = ConcurrentHashMap.newKeySet(0);

  /** Whether requests wait for this pod, or for one of several of which it is one. */
  boolean isAwaited(Destination pod) {
    return sizes.containsKey(new Pod(pod))
        || !sets.isEmpty() && sets.stream().anyMatch(set -> set.pods().contains(pod));
  }

  /** Whether requests wait for room on the tenant's pod. */
  boolean isAwaited(TenantsPod pod) {
    return sizes.containsKey(pod);
  }

  /** How many requests wait for this pod only. */
  int waitingFor(Destination pod) {
    return sizes.getOrDefault(new Pod(pod), 0);
  }

  int size() {
    return size.get();
  }

  void add(QueuedRequest request, WaitsFor pods) {
    request.waitsFor = pods;
    queues.computeIfAbsent(pods, _ -> new PodQueue()).groupOf(request).add(request);
    size.getAndIncrement();
    sizes.merge(pods, 1, Integer::sum);
    if (pods instanceof AnyOf set) {
      sets.add(set);
    }
  }

  /** Like {@link #add}, for a request that may be older than those that wait for the same. */
  void addInOrder(QueuedRequest request, WaitsFor pods) {
    var waiting = queues.get(pods);
    var group = waiting == null ? null : waiting.groupOf(request);
    boolean isOlder = group != null && !group.isEmpty() && request.isOlderThan(group.getLast());
    add(request, pods);
    if (isOlder) {
      queues.computeIfPresent(pods, (_, unsorted) -> unsorted.sorted());
    }
  }

  boolean remove(QueuedRequest request, WaitsFor pods) {
    var waiting = queues.get(pods);
    if (waiting == null || !waiting.groupOf(request).remove(request)) {
      return false;
    }
    size.getAndDecrement();
    sizes.computeIfPresent(pods, (_, before) -> before == 1 ? null : before - 1);
    if (waiting.isEmpty()) {
      queues.remove(pods);
      if (pods instanceof AnyOf set) {
        sets.remove(set);
      }
    }
    return true;
  }

  /** Of the requests that wait for some of these pods, the next; null if there is none. */
  @Nullable QueuedRequest next(Collection<Destination> withRoom, AdaptiveLifo order) {
    return Stream.concat(withRoom.stream().map(Pod::new),
        sets.stream().filter(set -> withRoom.stream().anyMatch(set.pods()::contains)))
        .map(queues::get).filter(Objects::nonNull).map(waiting -> waiting.next(order))
        .reduce((one, other) -> one.runsBefore(other, order) ? one : other).orElse(null);
  }

  /** The request that runs next on the pod of a tenant; null if none waits for that. */
  @Nullable QueuedRequest firstOf(Object tenant, AdaptiveLifo order) {
    var waiting = queues.get(new TenantsPod(tenant));
    return waiting == null ? null : waiting.next(order);
  }

  /** The tenants whose pods requests wait for. */
  List<Object> tenants() {
    return queues.keySet().stream().filter(TenantsPod.class::isInstance)
        .map(it -> ((TenantsPod) it).tenant()).toList();
  }

  Stream<SequencedSet<QueuedRequest>> groups() {
    return groups(_ -> true);
  }

  /** The requests that wait for pods which their tenants do not have yet. */
  Stream<SequencedSet<QueuedRequest>> groupsWithoutPod() {
    return groups(pods -> !(pods instanceof TenantsPod));
  }

  private Stream<SequencedSet<QueuedRequest>> groups(Predicate<WaitsFor> which) {
    return queues.entrySet().stream().filter(queue -> which.test(queue.getKey()))
        .map(Map.Entry::getValue).flatMap(pod -> Stream.of(pod.returned(), pod.others()));
  }

  /** Restores the order of arrival. */
  void sort() {
    queues.replaceAll((_, waiting) -> waiting.sorted());
  }

  static SequencedSet<QueuedRequest> sorted(Stream<QueuedRequest> requests) {
    return requests.sorted(BY_ARRIVAL).collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** How many requests wait for which pod only. */
  Map<Destination, Integer> byPod() {
    var ofPods = new TreeMap<Destination, Integer>();
    sizes.forEach((pods, number) -> {
      if (pods instanceof Pod(var pod)) {
        ofPods.put(pod, number);
      }
    });
    return ofPods;
  }

  /** How many requests wait for one of several pods. */
  int ofSeveral() {
    return sets.stream().mapToInt(set -> sizes.getOrDefault(set, 0)).sum();
  }

  /**
   * How many requests could use a pod and wait for it. Those that wait for one of several pods are
   * divided among these, but each of the pods is wanted.
   */
  Map<Destination, Integer> wanted() {
    var all = byPod();
    for (var set : sets) {
      int each = Math.ceilDiv(sizes.getOrDefault(set, 0), set.pods().size());
      set.pods().forEach(pod -> all.merge(pod, each, Integer::sum));
    }
    return all;
  }

  void clear() {
    queues.clear();
    size.set(0);
    sizes.clear();
    sets.clear();
  }

  /** The pods for which a request waits apart from those that may run on any pod. */
  sealed interface WaitsFor {
    /** This pod only. */
    record Pod(Destination pod) implements WaitsFor {}

    /** One of these pods. */
    record AnyOf(Set<Destination> pods) implements WaitsFor {}

    /** The pod that the tenant has. */
    record TenantsPod(Object tenant) implements WaitsFor {}
  }
}
