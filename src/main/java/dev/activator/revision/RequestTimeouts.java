package dev.activator.revision;

import java.time.Duration;

/**
 * The timeouts of a request. They count from its arrival, so they include the time in the queue.
 * Zero means none for {@code responseStart} and {@code idle}.
 *
 * @param overall the maximum time until the end of the response; positive
 * @param responseStart the maximum time until the first write of the response
 * @param idle the maximum time until the first write, and from each write to the next one
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
