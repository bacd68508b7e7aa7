package dev.activator.throttle.policy;

import java.time.Duration;

/**
 * The window of requests in flight of a new pod without a concurrency limit. It grows by one with
 * each request served, doubles with each time step, so that slow requests do not keep it small, and
 * halves when the pod refuses or breaks off a request.
 *
 * <p><b>Source.</b> TCP: RFC 5681, section 3.1.
 *
 * @param window at that time
 * @param sinceNanos of the loop's clock; meaningless once it is over
 */
public record SlowStart(int window, long sinceNanos) {
  public static final SlowStart OVER = new SlowStart(DestinationSubset.UNLIMITED, 0);
  /** From this window on there is no limit. */
  static final int UNLIMITED_FROM = 1_024;
  private static final long STEP_NANOS = Duration.ofMillis(100).toNanos();
  /** After this many steps even a window of one has no limit. */
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

  /** A request was refused or broken off. Also begins slow start again. */
  public SlowStart broken(int inFlight, long nowNanos) {
    var now = at(nowNanos);
    return of(Math.max(1, Math.min(now.window, inFlight) / 2),
        now.isOver() ? nowNanos : now.sinceNanos);
  }
}
