package dev.activator.embedded.api.cache;

import java.time.Duration;

/**
 * How many events a window holds.
 *
 * @param lowest it starts with, and never shrinks below
 * @param highest it never grows above
 * @param fresh how long an event should stay
 */
public record Capacity(int lowest, int highest, Duration fresh) {
  /** As in Kubernetes: enough for 75 seconds, within bounds. */
  public static final Capacity DYNAMIC = new Capacity(100, 102_400, Duration.ofSeconds(75));

  /** Always the same. */
  public static Capacity fixed(int events) {
    return new Capacity(events, events, Duration.ofSeconds(75));
  }

  /** What to hold once full: more if the oldest is fresh, less if a fresh quarter would do. */
  int next(int current, long oldestAgeNanos, long quarterAgeNanos) {
    if (oldestAgeNanos < fresh.toNanos()) {
      return Math.min(2 * current, highest);
    }
    return quarterAgeNanos > fresh.toNanos() ? Math.max(current / 2, lowest) : current;
  }
}
