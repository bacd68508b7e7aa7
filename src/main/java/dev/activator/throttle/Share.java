package dev.activator.throttle;

import dev.activator.throttle.policy.Balancer;
import dev.activator.throttle.policy.Loads;

/**
 * Where requests can go now, and how they are spread: one fact, published as one.
 *
 * @param pods in order; never changed after it was made
 * @param limit requests that may be in flight on each, unless it is new and given fewer
 * @param capacity requests that may be in flight on all of them
 * @param balancer which pod is next
 */
@SuppressWarnings("ArrayRecordComponent") // read on every request, compared never
record Share(Pod[] pods, int limit, int capacity, Balancer balancer) implements Loads {
  static final Share NONE = new Share(new Pod[0], 0, 0, Balancer.FIRST_AVAILABLE);

  @Override
  public int size() {
    return pods.length;
  }

  @Override
  public int inFlight(int position) {
    return pods[position].load();
  }

  @Override
  public int limit(int position) {
    return pods[position].limit(limit);
  }
}
