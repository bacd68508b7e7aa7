package dev.activator.embedded.runtime.policy;

import java.time.Duration;

/**
 * How a sidecar finds out whether its process takes requests.
 *
 * @param path to ask for over HTTP, where 200 to 399 passes; empty where a connection is enough
 * @param attempts how often it is tried
 * @param successThreshold passes in a row that are needed
 */
public record UserProbe(String path, Attempts attempts, int successThreshold) {
  /** A connection is enough. */
  public static final UserProbe TCP = new UserProbe("", Attempts.EAGER, 1);

  /**
   * How often it is tried, and how long.
   *
   * @param pause from one try to the next
   * @param timeout of one try
   * @param limit after which there is no further try
   */
  public record Attempts(Duration pause, Duration timeout, Duration limit) {
    /** Until it passes, for ten seconds. */
    public static final Attempts EAGER = new Attempts(Duration.ofMillis(50),
        Duration.ofMillis(100), Duration.ofSeconds(10));

    /** Once: whoever asks comes back by itself. */
    public static Attempts once(Duration timeout) {
      return new Attempts(Duration.ZERO, timeout, Duration.ZERO);
    }
  }

  public UserProbe {
    if (successThreshold < 1) {
      throw new IllegalArgumentException("successThreshold must be at least 1, not "
          + successThreshold);
    }
  }
}
