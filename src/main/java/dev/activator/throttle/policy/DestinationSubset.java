package dev.activator.throttle.policy;

import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.Collections;

/**
 * The destinations to which this activator may send a revision's requests, with the limit of each
 * one and the capacity of all. All activators divide the pods by the same rule, without
 * communication.
 *
 * <p><b>Source.</b> Knative's {@code assignSlice}, {@code pickIndices} and {@code
 * calculateCapacity}.
 *
 * @param destinations in order; empty without capacity
 */
public record DestinationSubset(List<Destination> destinations, int limit, int capacity) {
  public static final int UNLIMITED = Integer.MAX_VALUE;

  public static final DestinationSubset NONE = new DestinationSubset(List.of(), 0, 0);

  public DestinationSubset {
    destinations = List.copyOf(destinations);
  }

  public static DestinationSubset of(HealthyDestinations healthy, ActivatorIndex activator,
      int containerConcurrency) {
    if (healthy.pods().isEmpty()) {
      return NONE;
    }
    var clusterIp = healthy.clusterIp();
    return clusterIp == null
        ? ofPods(healthy.pods(), activator, containerConcurrency)
        : ofClusterIp(clusterIp, healthy.pods().size(), activator.activators(),
            containerConcurrency);
  }

  /**
   * The subset without ejected destinations. The shares stay the same, because other activators do
   * not know of the ejection.
   */
  public DestinationSubset without(Set<Destination> ejected) {
    var rest = destinations.stream().filter(each -> !ejected.contains(each)).toList();
    if (rest.size() == destinations.size()) {
      return this;
    }
    if (rest.isEmpty()) {
      return NONE;
    }
    return new DestinationSubset(rest, limit,
        limit == UNLIMITED ? UNLIMITED : product(limit, rest.size()));
  }

  private static DestinationSubset ofPods(DestinationSet pods, ActivatorIndex activator,
      int concurrency) {
    if (concurrency == 0) {
      return new DestinationSubset(pods.all(), UNLIMITED, UNLIMITED);
    }
    var share = share(pods.all(), activator);
    return new DestinationSubset(share, concurrency, product(concurrency, share.size()));
  }

  private static DestinationSubset ofClusterIp(Destination clusterIp, int pods, int activators,
      int concurrency) {
    int capacity = clusterIpCapacity(pods, activators, concurrency);
    return new DestinationSubset(List.of(clusterIp), capacity, capacity);
  }

  static int clusterIpCapacity(int pods, int activators, int concurrency) {
    if (pods == 0) {
      return 0;
    }
    if (concurrency == 0) {
      return UNLIMITED;
    }
    long share = (long) concurrency * pods / Math.max(1, activators);
    return (int) Math.clamp(share, 1L, UNLIMITED);
  }

  /** The pods of one activator: a block of equal size, and at most one of the remainder. */
  static <T> List<T> share(List<T> sorted, ActivatorIndex activator) {
    int index = activator.index();
    int activators = activator.activators();
    int pods = sorted.size();
    if (index < 0 || pods <= 1 || activators <= 1) {
      return sorted;
    }
    if (activators > pods) {
      return List.of(sorted.get(index % pods));
    }
    int block = pods / activators;
    var mine = new ArrayList<T>(sorted.subList(index * block, (index + 1) * block));
    int dealt = pods - pods % activators + index;
    if (dealt < pods) {
      mine.add(sorted.get(dealt));
    }
    return mine;
  }

  private static int product(int concurrency, int pods) {
    return (int) Math.min((long) concurrency * pods, UNLIMITED);
  }

  /**
   * The position of this activator among the sorted addresses of a revision's activators.
   *
   * <p><b>Source.</b> Knative's {@code inferIndex} and {@code handlePubEpsUpdate}.
   *
   * @param index −1 while unknown
   * @param activators the number of activators; 0 while unknown
   */
  public record ActivatorIndex(int index, int activators) {
    public static final ActivatorIndex UNKNOWN = new ActivatorIndex(-1, 0);

    /**
     * The index among these addresses. It does not change if this activator's address is missing:
     * requests then bypass the activators, and queued requests keep their shares.
     *
     * @param addresses sorted as text, each once
     */
    public ActivatorIndex after(List<String> addresses, String own) {
      int position = Collections.binarySearch(addresses, own);
      return position < 0 ? this : new ActivatorIndex(position, addresses.size());
    }
  }
}
