package dev.activator.throttle.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * How long a revision takes to start, from the first request that found no capacity to the first pod
 * that brought some.
 *
 * <p>
 * A request that is refused does not wait for the start it asks for, so the start may never come. It
 * counts for as long as a start usually takes.
 *
 * <p>
 * <b>Units.</b> Nanoseconds; points in time by the loop's clock.
 *
 * @param recentNanos the last few starts, oldest first
 * @param asked by which requests the start that is under way was asked for
 * @param sinceNanos when it was first asked for; means nothing if it was not
 */
public record StartTimes(List<Long> recentNanos, Asked asked, long sinceNanos) {
  public static final StartTimes UNKNOWN = new StartTimes(List.of(), Asked.BY_NONE, 0);

  private static final int REMEMBERED = 8;
  /** A start that takes longer teaches nothing. */
  private static final long STALE_NANOS = 600_000_000_000L;

  /** By which requests a start is asked for. */
  public enum Asked {
    BY_NONE, BY_REFUSED, BY_QUEUED
  }

  public StartTimes {
    recentNanos = List.copyOf(recentNanos);
  }

  /** A request finds no capacity and is queued. */
  public StartTimes awaited(long nowNanos) {
    return new StartTimes(recentNanos, Asked.BY_QUEUED, counts(nowNanos) ? sinceNanos : nowNanos);
  }

  /** A request finds no capacity and is refused. */
  public StartTimes refused(long nowNanos) {
    return counts(nowNanos) ? this : new StartTimes(recentNanos, Asked.BY_REFUSED, nowNanos);
  }

  /** A new pod brings capacity. */
  public StartTimes came(long nowNanos) {
    if (!counts(nowNanos)) {
      return ended();
    }
    var longer = new ArrayList<>(recentNanos);
    longer.add(nowNanos - sinceNanos);
    int dropped = Math.max(0, longer.size() - REMEMBERED);
    return new StartTimes(longer.subList(dropped, longer.size()), Asked.BY_NONE, 0);
  }

  /** There is capacity without a start, or no request is queued for one any more. */
  public StartTimes ended() {
    return asked == Asked.BY_NONE ? this : new StartTimes(recentNanos, Asked.BY_NONE, 0);
  }

  /** Whether requests are queued for a start. */
  public boolean isAwaited() {
    return asked == Asked.BY_QUEUED;
  }

  /** What the quickest start so far has left from now; 0 if unknown. */
  public long leastNanosLeft(long nowNanos) {
    return left(recentNanos.stream().mapToLong(Long::longValue).min().orElse(0), nowNanos);
  }

  /** What a usual start has left from now; 0 if unknown. */
  public long usualNanosLeft(long nowNanos) {
    return left(usualNanos(), nowNanos);
  }

  /** The median of the last starts; 0 if unknown. */
  public long usualNanos() {
    return recentNanos.isEmpty()
        ? 0
        : recentNanos.stream().sorted().toList().get(recentNanos.size() / 2);
  }

  private long left(long wholeNanos, long nowNanos) {
    return Math.max(0, wholeNanos - (counts(nowNanos) ? nowNanos - sinceNanos : 0));
  }

  /** Whether a start is taken to be under way. */
  private boolean counts(long nowNanos) {
    long passed = nowNanos - sinceNanos;
    return switch (asked) {
      case BY_NONE -> false;
      case BY_REFUSED -> passed <= usualNanos();
      case BY_QUEUED -> passed < STALE_NANOS;
    };
  }
}
