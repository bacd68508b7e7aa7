package dev.activator.throttle.policy;

import java.time.Duration;

/**
 * The slow-start window: the limit of requests in flight for a new pod without a concurrency limit.
 * The window grows by one with each request that is served. It doubles with each time step, so that
 * slow requests do not keep it small. It halves when the pod refuses or breaks off a request.
 *
 * <p><b>Source.</b> TCP: RFC 5681, section 3.1.
 *
 * @param window at {@code sinceNanos}
 * @param sinceNanos by the loop's clock; meaningless once slow start is over
 */
public record SlowStart(int window, long sinceNanos) {
  public static final SlowStart OVER = new SlowStart(DestinationSubset.UNLIMITED, 0);
  /** A window of this size or more is no limit. */
  static final int UNLIMITED_FROM = 1_024;
  private static final long STEP_NANOS = Duration.ofMillis(100).toNanos();
  /** The number of steps after which even a window of one is no limit. */
  private static final long MAX_STEPS = Integer.numberOfTrailingZeros(UNLIMITED_FROM);

  public static SlowStart of(long window, long nowNanos) {
    return window >= UNLIMITED_FROM ? OVER : new SlowStart((int) window, nowNanos);
  }

  public boolean isOver() {
    return window == DestinationSubset.UNLIMITED;
  }

  public SlowStart at(long nowNanos) {
    long steps = isOver() ? 0 : Math.clamp((nowNanos - sinceNanos) / STEP_NANOS, 0, MAX_STEPS);
    return steps == 0 ? this : of((long) window << steps, sinceNanos + steps * STEP_NANOS);
  }

  public long untilNextStep(long nowNanos) {
    return STEP_NANOS - Math.floorMod(nowNanos - sinceNanos, STEP_NANOS);
  }

  public SlowStart served(long nowNanos) {
    var now = at(nowNanos);
    return now.isOver() ? now : of(now.window + 1L, now.sinceNanos);
  }

  /**
   * The window after a request was refused or broken off. Begins slow start again if it was over.
   */
  public SlowStart broken(int inFlight, long nowNanos) {
    var now = at(nowNanos);
    return of(Math.max(1, Math.min(now.window, inFlight) / 2),
        now.isOver() ? nowNanos : now.sinceNanos);
  }
}
