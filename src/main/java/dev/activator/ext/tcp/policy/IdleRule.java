package dev.activator.ext.tcp.policy;

import dev.activator.config.RevisionAnnotations;
import java.time.Duration;
import java.util.Map;

/**
 * When an open connection is idle, and whether it is closed then. An idle one does not count for the
 * autoscaler.
 *
 * @param after the time without a byte in either direction; zero if it is never idle
 */
public record IdleRule(Duration after, boolean closes) {
  private static final String AFTER = RevisionAnnotations.TCP + "idle-after-seconds";
  private static final String CLOSES = RevisionAnnotations.TCP + "close-idle";
  public static final IdleRule NONE = new IdleRule(Duration.ZERO, false);

  public static IdleRule of(Map<String, String> annotations) {
    var after = annotations.get(AFTER);
    return after == null
        ? NONE
        : new IdleRule(Duration.ofSeconds(Long.parseLong(after)),
            Boolean.parseBoolean(annotations.get(CLOSES)));
  }

  public boolean applies() {
    return after.isPositive();
  }

  /** The time until the connection is idle, in nanoseconds; it is idle if none is left. */
  public long left(long silentNanos) {
    return after.toNanos() - silentNanos;
  }
}
