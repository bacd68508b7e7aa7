package dev.activator.throttle.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * Measures how long a revision takes to start: from the first request without capacity to the first
 * pod with capacity.
 *
 * <p>A start that was only caused by rejected requests may never complete. It counts as under way
 * for the usual duration of a start.
 *
 * <p><b>Units.</b> Times by the loop's clock.
 *
 * @param recentNanos the durations of the last starts, oldest first
 * @param sinceNanos when the first request arrived; meaningless without a start
 */
public record RecentStartDurations(List<Long> recentNanos, RequestedBy requestedBy,
    long sinceNanos) {
  public static final RecentStartDurations UNKNOWN = new RecentStartDurations(List.of(),
      RequestedBy.NONE, 0);

  private static final int REMEMBERED = 8;
  /** Longer starts are not measured. */
  private static final long STALE_NANOS = 600_000_000_000L;

  public enum RequestedBy {
    NONE,
    REFUSED,
    QUEUED
  }

  public RecentStartDurations {
    recentNanos = List.copyOf(recentNanos);
  }

  public RecentStartDurations awaited(long nowNanos) {
    return new RecentStartDurations(recentNanos, RequestedBy.QUEUED,
        isUnderWay(nowNanos) ? sinceNanos : nowNanos);
  }

  public RecentStartDurations refused(long nowNanos) {
    return isUnderWay(nowNanos)
        ? this
        : new RecentStartDurations(recentNanos, RequestedBy.REFUSED, nowNanos);
  }

  public RecentStartDurations started(long nowNanos) {
    if (!isUnderWay(nowNanos)) {
      return ended();
    }
    var longer = new ArrayList<>(recentNanos);
    longer.add(nowNanos - sinceNanos);
    int dropped = Math.max(0, longer.size() - REMEMBERED);
    return new RecentStartDurations(longer.subList(dropped, longer.size()), RequestedBy.NONE, 0);
  }

  /**
   * Ends the measurement without a result, because there is capacity without a start, or no request
   * waits for one any more.
   */
  public RecentStartDurations ended() {
    return requestedBy == RequestedBy.NONE
        ? this
        : new RecentStartDurations(recentNanos, RequestedBy.NONE, 0);
  }

  public boolean isAwaited() {
    return requestedBy == RequestedBy.QUEUED;
  }

  /** The time that remains if this start is as fast as the fastest known; 0 if unknown. */
  public long quickestRemainingNanos(long nowNanos) {
    return remaining(recentNanos.stream().mapToLong(Long::longValue).min().orElse(0), nowNanos);
  }

  public long usualRemainingNanos(long nowNanos) {
    return remaining(usualNanos(), nowNanos);
  }

  /** The median duration; 0 if unknown. */
  public long usualNanos() {
    return recentNanos.isEmpty()
        ? 0
        : recentNanos.stream().sorted().toList().get(recentNanos.size() / 2);
  }

  private long remaining(long wholeNanos, long nowNanos) {
    return Math.max(0, wholeNanos - (isUnderWay(nowNanos) ? nowNanos - sinceNanos : 0));
  }

  public boolean isUnderWay(long nowNanos) {
    long passed = nowNanos - sinceNanos;
    return switch (requestedBy) {
      case NONE -> false;
      case REFUSED -> passed <= usualNanos();
      case QUEUED -> passed < STALE_NANOS;
    };
  }
}
