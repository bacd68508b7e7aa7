package dev.activator.throttle.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * How long a revision takes to start, from the first request that found no capacity to the first pod
 * that brought some.
 *
 * <p>
 * A start that only refused requests caused may never complete. It is taken to be under way for as long
 * as a start usually takes.
 *
 * <p>
 * <b>Units.</b> Nanoseconds; points in time by the loop's clock.
 *
 * @param recentNanos the last few starts, oldest first
 * @param requestedBy which requests caused the start that is under way
 * @param sinceNanos when the first of them arrived; meaningless without a start
 */
public record StartTimes(List<Long> recentNanos, RequestedBy requestedBy, long sinceNanos) {
  public static final StartTimes UNKNOWN = new StartTimes(List.of(), RequestedBy.NONE, 0);

  private static final int REMEMBERED = 8;
  /** A start that takes longer is not measured. */
  private static final long STALE_NANOS = 600_000_000_000L;

  /** Which requests caused a start. */
  public enum RequestedBy {
    NONE, REFUSED, QUEUED
  }

  public StartTimes {
    recentNanos = List.copyOf(recentNanos);
  }

  /** A request finds no capacity and is queued. */
  public StartTimes awaited(long nowNanos) {
    return new StartTimes(recentNanos, RequestedBy.QUEUED,
        isUnderWay(nowNanos) ? sinceNanos : nowNanos);
  }

  /** A request finds no capacity and is refused. */
  public StartTimes refused(long nowNanos) {
    return isUnderWay(nowNanos) ? this : new StartTimes(recentNanos, RequestedBy.REFUSED, nowNanos);
  }

  /** A new pod brings capacity. */
  public StartTimes started(long nowNanos) {
    if (!isUnderWay(nowNanos)) {
      return ended();
    }
    var longer = new ArrayList<>(recentNanos);
    longer.add(nowNanos - sinceNanos);
    int dropped = Math.max(0, longer.size() - REMEMBERED);
    return new StartTimes(longer.subList(dropped, longer.size()), RequestedBy.NONE, 0);
  }

  /** There is capacity without a start, or no request is queued for one any more. */
  public StartTimes ended() {
    return requestedBy == RequestedBy.NONE
        ? this
        : new StartTimes(recentNanos, RequestedBy.NONE, 0);
  }

  /** Whether requests are queued for a start. */
  public boolean isAwaited() {
    return requestedBy == RequestedBy.QUEUED;
  }

  /** The time left if this start is as fast as the fastest so far; 0 if unknown. */
  public long quickestRemainingNanos(long nowNanos) {
    return remaining(recentNanos.stream().mapToLong(Long::longValue).min().orElse(0), nowNanos);
  }

  /** The time left if this start takes as long as usual; 0 if unknown. */
  public long usualRemainingNanos(long nowNanos) {
    return remaining(usualNanos(), nowNanos);
  }

  /** The median of the last starts; 0 if unknown. */
  public long usualNanos() {
    return recentNanos.isEmpty()
        ? 0
        : recentNanos.stream().sorted().toList().get(recentNanos.size() / 2);
  }

  private long remaining(long wholeNanos, long nowNanos) {
    return Math.max(0, wholeNanos - (isUnderWay(nowNanos) ? nowNanos - sinceNanos : 0));
  }

  /** Whether a start is taken to be under way. */
  private boolean isUnderWay(long nowNanos) {
    long passed = nowNanos - sinceNanos;
    return switch (requestedBy) {
      case NONE -> false;
      case REFUSED -> passed <= usualNanos();
      case QUEUED -> passed < STALE_NANOS;
    };
  }
}
