package dev.activator.upstream;

import java.time.Duration;

/**
 * How many connections are kept open while nothing uses them, and for how long.
 *
 * @param total to all pods; 0 means no limit
 * @param perDestination to one pod
 * @param timeout how long one may stay idle
 */
public record IdleLimits(int total, int perDestination, Duration timeout) {
  /** What the Knative activator keeps. */
  public static final IdleLimits DEFAULT = new IdleLimits(1000, 100, Duration.ofSeconds(90));

  /** The share of one loop among so many; at least one, unless none are kept at all. */
  IdleLimits shareOf(int loops) {
    return new IdleLimits(Math.ceilDiv(total, loops), Math.ceilDiv(perDestination, loops), timeout);
  }
}
