package dev.activator.revision;

import java.time.Duration;

/**
 * Limits for a request from its arrival, queueing included; zero in the last two means none.
 *
 * @param idle between two writes of the response
 */
public record RequestTimeouts(Duration overall, Duration responseStart, Duration idle) {
  public RequestTimeouts {
    if (!overall.isPositive()) {
      throw new IllegalArgumentException("a request needs a positive timeout, not " + overall);
    }
  }

  public static final RequestTimeouts DEFAULT = new RequestTimeouts(Duration.ofMinutes(5),
      Duration.ZERO, Duration.ZERO);
}
