package dev.activator.throttle.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * How long a revision takes to start, learned from the starts that were seen: from the first
 * request that found no capacity to the first pod that brought some.
 *
 * <p>
 * <b>Units.</b> Nanoseconds; points in time by the loop's clock.
 *
 * @param recentNanos the last few starts, oldest first
 * @param starting whether a start is under way
 * @param sinceNanos when it began; means nothing if none is under way
 */
public record StartTimes(List<Long> recentNanos, boolean starting, long sinceNanos) {
  public static final StartTimes UNKNOWN = new StartTimes(List.of(), false, 0);

  private static final int REMEMBERED = 8;
  /** A start that takes longer was given up by all who asked for it. */
  private static final long STALE_NANOS = 600_000_000_000L;

  public StartTimes {
    recentNanos = List.copyOf(recentNanos);
  }

  /** A request finds no capacity. */
  public StartTimes asked(long nowNanos) {
    return starting && nowNanos - sinceNanos < STALE_NANOS
        ? this
        : new StartTimes(recentNanos, true, nowNanos);
  }

  /** There is capacity, of a pod that is new. */
  public StartTimes came(long nowNanos) {
    if (!starting || nowNanos - sinceNanos >= STALE_NANOS) {
      return ended();
    }
    var longer = new ArrayList<>(recentNanos);
    longer.add(nowNanos - sinceNanos);
    int dropped = Math.max(0, longer.size() - REMEMBERED);
    return new StartTimes(longer.subList(dropped, longer.size()), false, 0);
  }

  /** There is capacity that tells nothing of a start, or nobody waits for it any more. */
  public StartTimes ended() {
    return starting ? new StartTimes(recentNanos, false, 0) : this;
  }

  /** How long it takes from now at the very least, as no start was ever quicker; 0 if unknown. */
  public long leastNanosLeft(long nowNanos) {
    return left(recentNanos.stream().mapToLong(Long::longValue).min().orElse(0), nowNanos);
  }

  /** How long it takes from now as a rule; 0 if unknown. */
  public long usualNanosLeft(long nowNanos) {
    return left(usualNanos(), nowNanos);
  }

  /** How long it takes as a rule; 0 if unknown. */
  public long usualNanos() {
    return recentNanos.isEmpty()
        ? 0
        : recentNanos.stream().sorted().toList().get(recentNanos.size() / 2);
  }

  private long left(long wholeNanos, long nowNanos) {
    return Math.max(0, wholeNanos - (starting ? nowNanos - sinceNanos : 0));
  }
}
