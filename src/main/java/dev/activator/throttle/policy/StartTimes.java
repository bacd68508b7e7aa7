package dev.activator.throttle.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * How long a revision takes to start, learned from the starts that were seen: from the first
 * request that found no capacity to the first pod that brought some.
 *
 * <p>
 * A request that is refused does not wait for the start it asks for, so nobody would notice if there
 * were none. What it asked for counts as long as a start usually takes, and is forgotten then.
 *
 * <p>
 * <b>Units.</b> Nanoseconds; points in time by the loop's clock.
 *
 * @param recentNanos the last few starts, oldest first
 * @param asked who asked for the start that is under way
 * @param sinceNanos when it was first asked for; means nothing if nobody did
 */
public record StartTimes(List<Long> recentNanos, Asked asked, long sinceNanos) {
  public static final StartTimes UNKNOWN = new StartTimes(List.of(), Asked.BY_NOBODY, 0);

  private static final int REMEMBERED = 8;
  /** A start that takes longer was given up by all who asked for it. */
  private static final long STALE_NANOS = 600_000_000_000L;

  /** Who asks for a start. */
  public enum Asked {
    BY_NOBODY,
    /** Requests that were refused, and wait for nothing. */
    BY_REFUSED, BY_WAITING
  }

  public StartTimes {
    recentNanos = List.copyOf(recentNanos);
  }

  /** A request finds no capacity, and waits. */
  public StartTimes awaited(long nowNanos) {
    return new StartTimes(recentNanos, Asked.BY_WAITING, counts(nowNanos) ? sinceNanos : nowNanos);
  }

  /** A request finds no capacity, and is refused. */
  public StartTimes refused(long nowNanos) {
    return counts(nowNanos) ? this : new StartTimes(recentNanos, Asked.BY_REFUSED, nowNanos);
  }

  /** There is capacity, of a pod that is new. */
  public StartTimes came(long nowNanos) {
    if (!counts(nowNanos)) {
      return ended();
    }
    var longer = new ArrayList<>(recentNanos);
    longer.add(nowNanos - sinceNanos);
    int dropped = Math.max(0, longer.size() - REMEMBERED);
    return new StartTimes(longer.subList(dropped, longer.size()), Asked.BY_NOBODY, 0);
  }

  /** There is capacity that tells nothing of a start, or nobody waits for it any more. */
  public StartTimes ended() {
    return asked == Asked.BY_NOBODY ? this : new StartTimes(recentNanos, Asked.BY_NOBODY, 0);
  }

  /** Whether somebody waits for a start. */
  public boolean isAwaited() {
    return asked == Asked.BY_WAITING;
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
    return Math.max(0, wholeNanos - (counts(nowNanos) ? nowNanos - sinceNanos : 0));
  }

  /** Whether a start is under way, as far as anybody would notice. */
  private boolean counts(long nowNanos) {
    long passed = nowNanos - sinceNanos;
    return switch (asked) {
      case BY_NOBODY -> false;
      case BY_REFUSED -> passed <= usualNanos();
      case BY_WAITING -> passed < STALE_NANOS;
    };
  }
}
