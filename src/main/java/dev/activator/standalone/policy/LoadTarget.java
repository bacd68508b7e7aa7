package dev.activator.standalone.policy;

import java.util.ArrayList;
import java.util.OptionalInt;

/**
 * The load that each replica of a ScaledService should have. If there are several targets, the one
 * that needs the most replicas decides.
 *
 * @param concurrency requests in flight at once; empty for 70 % of {@code containerConcurrency}, if
 *     that is set
 * @param queueMilliseconds how long 95 % of requests may wait for a pod while pods are ready
 */
public record LoadTarget(OptionalInt concurrency, OptionalInt requestsPerSecond,
    OptionalInt queueMilliseconds) {
  @Override
  public String toString() {
    var parts = new ArrayList<String>(3);
    concurrency.ifPresent(number -> parts.add(number + " requests at once a pod"));
    requestsPerSecond.ifPresent(number -> parts.add(number + " requests a second a pod"));
    queueMilliseconds.ifPresent(number -> parts.add(number + " ms in the queue"));
    return parts.isEmpty() ? "not set" : String.join(", ", parts);
  }
}
