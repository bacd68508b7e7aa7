package dev.activator.revision;

import java.time.Duration;

/**
 * How long a request of a revision may take, the time it is queued included.
 *
 * @param overall from arrival to the end of the response; positive
 * @param responseStart from arrival to the first byte of the response; zero means no limit
 * @param idle between two writes of the response; zero means no limit
 */
public record RequestTimeouts(Duration overall, Duration responseStart, Duration idle) {
  public RequestTimeouts {
    if (!overall.isPositive()) {
      throw new IllegalArgumentException("a request needs a positive timeout, not " + overall);
    }
  }

  /** Those of a revision that sets none: five minutes overall. */
  public static final RequestTimeouts DEFAULT = new RequestTimeouts(Duration.ofMinutes(5),
      Duration.ZERO, Duration.ZERO);
}
