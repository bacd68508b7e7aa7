package dev.activator.backend.policy;

import java.time.Duration;

/**
 * How long to wait from a probe's failure to the next probe of the same address. Short while a
 * start is likely, so that a pod that begins to listen is found at once; long when it has failed
 * for a while.
 *
 * <p>
 * <b>Source.</b> Knative probes on one tick of {@code PROBE_FREQUENCY}, 200 ms, for ever. Here that
 * is the longest pause of a start.
 *
 * @param frequency the longest pause of an address that has not failed for long; positive
 */
public record Pauses(Duration frequency) {
  /** About half a minute of failures that come at once, at the default frequency. */
  static final int LONG_FAILURE = 150;

  private static final Duration FIRST = Duration.ofMillis(10);
  private static final Duration LONGEST = Duration.ofSeconds(1);
  private static final Duration LONGEST_VIA_CLUSTER_IP = Duration.ofSeconds(30);
  private static final double GROWTH = 1.5;

  /** After so many failures in a row, at least one, while requests wait for this address. */
  public Duration after(int failures) {
    return failures <= LONG_FAILURE
        ? grown(FIRST, failures - 1, frequency)
        : grown(frequency, failures - LONG_FAILURE, longer(frequency, LONGEST));
  }

  /** The same while the ClusterIP serves, and the probes only look for the way back. */
  public Duration viaClusterIp(int failures) {
    return grown(frequency, failures - 1, longer(frequency, LONGEST_VIA_CLUSTER_IP));
  }

  private static Duration grown(Duration from, int times, Duration limit) {
    double nanos = from.toNanos() * Math.pow(GROWTH, times);
    return nanos < limit.toNanos() ? Duration.ofNanos((long) nanos) : limit;
  }

  private static Duration longer(Duration a, Duration b) {
    return a.compareTo(b) > 0 ? a : b;
  }
}
