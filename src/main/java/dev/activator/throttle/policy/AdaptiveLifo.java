package dev.activator.throttle.policy;

/**
 * Decides the order of a queue: by arrival, or newest first while callers leave a standing queue
 * before they are served.
 *
 * <p>A standing queue is one that does not become empty. It grows until its oldest request has
 * waited almost as long as callers are willing to wait. In order of arrival, each permit would then
 * go to a caller that leaves before it gets its response. The newest caller has the most time left.
 *
 * <p>A request is counted only if it was queued for at least {@link #STANDING_NANOS}. If its caller
 * left, it must also have been queued for at least as long as it ran.
 *
 * <p><b>Units.</b> Points in time are those of the loop's clock.
 *
 * <p><b>Source.</b> Adaptive LIFO: Maurer, "Fail at Scale" (2015); the standing queue: Nichols and
 * Jacobson, "Controlling Queue Delay" (2012).
 *
 * @param newestFirst whether requests that arrive after {@code newestFirstSinceNanos} run first
 * @param leftShare the share of the last counted requests whose callers left
 * @param patienceNanos how long callers that leave have usually waited; 0 if unknown
 * @param serviceNanos how long a request usually runs; 0 if unknown
 */
public record AdaptiveLifo(boolean newestFirst, long newestFirstSinceNanos, double leftShare,
    long lastLeftNanos, long patienceNanos, long serviceNanos) {
  public static final AdaptiveLifo BY_ARRIVAL = new AdaptiveLifo(false, 0, 0, 0, 0, 0);
  /** A request that is queued for longer is in a standing queue, not in a short burst. */
  public static final long STANDING_NANOS = 100_000_000L;

  /**
   * The {@code leftShare} from which the newest is first. Three callers in a row that leave reach
   * it; one does not.
   */
  private static final double NEWEST_FIRST_FROM = 1 / 6.0;
  /** The weight of the last request in {@code leftShare}. */
  private static final double WEIGHT = 1 / 16.0;
  private static final int MAX_STEP_DIVISOR = 16;
  private static final long MIN_QUIET_NANOS = 1_000_000_000L;

  /** @param ranNanos 0 if the request did not run */
  public AdaptiveLifo left(long queuedNanos, long ranNanos, long nowNanos) {
    if (queuedNanos < Math.max(STANDING_NANOS, ranNanos)) {
      return this;
    }
    var before = at(nowNanos);
    double share = before.leftShare + (1 - before.leftShare) * WEIGHT;
    boolean changes = !before.newestFirst && share >= NEWEST_FIRST_FROM;
    return new AdaptiveLifo(before.newestFirst || changes,
        changes ? nowNanos : before.newestFirstSinceNanos, share,
        nowNanos, towards(patienceNanos, queuedNanos + ranNanos), serviceNanos);
  }

  /** A caller has left during a start. No order would have helped, so only its patience counts. */
  public AdaptiveLifo leftDuringStart(long queuedNanos) {
    return queuedNanos < STANDING_NANOS
        ? this
        : new AdaptiveLifo(newestFirst, newestFirstSinceNanos, leftShare, lastLeftNanos,
            towards(patienceNanos, queuedNanos), serviceNanos);
  }

  public AdaptiveLifo served(long queuedNanos, long ranNanos) {
    return queuedNanos < STANDING_NANOS
        ? this
        : new AdaptiveLifo(newestFirst, newestFirstSinceNanos, leftShare * (1 - WEIGHT),
            lastLeftNanos, patienceNanos, towards(serviceNanos, ranNanos));
  }

  /** The order now. It is by arrival again if no caller has left for a while. */
  public AdaptiveLifo at(long nowNanos) {
    long quiet = Math.max(MIN_QUIET_NANOS, 2 * patienceNanos);
    boolean isInitial = !newestFirst && leftShare == 0;
    return isInitial || nowNanos - lastLeftNanos < quiet
        ? this
        : new AdaptiveLifo(false, 0, 0, 0, patienceNanos, serviceNanos);
  }

  public boolean overtakes(long arrivedNanos) {
    return newestFirst && arrivedNanos - newestFirstSinceNanos > 0;
  }

  public boolean isInTime(long queuedNanos) {
    return patienceNanos == 0 || queuedNanos + serviceNanos <= patienceNanos;
  }

  private static long towards(long usual, long sample) {
    long max = Math.max(1, usual / MAX_STEP_DIVISOR);
    return usual == 0 ? sample : usual + Math.clamp(sample - usual, -max, max);
  }
}
