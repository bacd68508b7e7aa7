package dev.activator.throttle.policy;

/**
 * In which order the queued requests of one revision run: in order of arrival; or newest first, once
 * callers leave a standing queue before they are served.
 *
 * <p>
 * A queue whose callers have a timeout grows until its head has almost reached that timeout. In order
 * of arrival each permit then goes to a caller that leaves before its response, and none is served.
 * The newest caller has the most time left.
 *
 * <p>
 * Requests that were queued for less than {@link #STANDING_NANOS} are not counted, nor callers that
 * left a request that ran for longer than it was queued: the queue was not the reason.
 *
 * <p>
 * <b>Units.</b> Points in time by the loop's clock; they mean nothing before the first caller leaves.
 *
 * <p>
 * <b>Source.</b> Adaptive LIFO: Maurer, "Fail at Scale" (2015); the standing queue: Nichols and
 * Jacobson, "Controlling Queue Delay" (2012), as in folly's {@code Codel}.
 *
 * @param newestFirst whether requests that arrive after {@code newestFirstSinceNanos} run newest first, and
 *     before all others
 * @param newestFirstSinceNanos when the order last became newest first
 * @param leftShare the share of the last queued requests whose callers left, 0 to 1
 * @param lastLeftNanos when the last caller left
 * @param patienceNanos how long callers that leave usually stay, from arrival; 0 if unknown
 * @param serviceNanos how long a request usually runs; 0 if unknown
 */
public record QueueOrder(boolean newestFirst, long newestFirstSinceNanos, double leftShare,
    long lastLeftNanos, long patienceNanos, long serviceNanos) {
  /** In order of arrival; nothing is known. */
  public static final QueueOrder BY_ARRIVAL = new QueueOrder(false, 0, 0, 0, 0, 0);
  /** A request that was queued for this long was in a standing queue, not in a short burst. */
  public static final long STANDING_NANOS = 100_000_000L;

  /** Reached by three in a row that leave, not by one alone. */
  private static final double NEWEST_FIRST_FROM = 1 / 6.0;
  /** The weight of the last request in {@code leftShare}. */
  private static final double WEIGHT = 1 / 16.0;
  /** An estimate changes by at most this part of it for each sample, so that an outlier counts little. */
  private static final int MAX_STEP_DIVISOR = 16;
  private static final long MIN_QUIET_NANOS = 1_000_000_000L;

  /**
   * A caller left before it was served.
   *
   * @param queuedNanos how long it was queued
   * @param ranNanos how long its request ran; 0 if it did not
   */
  public QueueOrder left(long queuedNanos, long ranNanos, long nowNanos) {
    if (queuedNanos < Math.max(STANDING_NANOS, ranNanos)) {
      return this;
    }
    var before = at(nowNanos);
    double share = before.leftShare + (1 - before.leftShare) * WEIGHT;
    boolean changes = !before.newestFirst && share >= NEWEST_FIRST_FROM;
    return new QueueOrder(before.newestFirst || changes,
        changes ? nowNanos : before.newestFirstSinceNanos, share,
        nowNanos, towards(patienceNanos, queuedNanos + ranNanos), serviceNanos);
  }

  /** A caller left while no request could run: only its patience counts, as no order would have helped. */
  public QueueOrder leftDuringStart(long queuedNanos) {
    return queuedNanos < STANDING_NANOS
        ? this
        : new QueueOrder(newestFirst, newestFirstSinceNanos, leftShare, lastLeftNanos,
            towards(patienceNanos, queuedNanos), serviceNanos);
  }

  /** A queued request was served; parameters as for {@link #left}. */
  public QueueOrder served(long queuedNanos, long ranNanos) {
    return queuedNanos < STANDING_NANOS
        ? this
        : new QueueOrder(newestFirst, newestFirstSinceNanos, leftShare * (1 - WEIGHT),
            lastLeftNanos,
            patienceNanos, towards(serviceNanos, ranNanos));
  }

  /** The order at this time: by arrival again, if no caller has left for a while. */
  public QueueOrder at(long nowNanos) {
    long quiet = Math.max(MIN_QUIET_NANOS, 2 * patienceNanos);
    boolean isInitial = !newestFirst && leftShare == 0;
    return isInitial || nowNanos - lastLeftNanos < quiet
        ? this
        : new QueueOrder(false, 0, 0, 0, patienceNanos, serviceNanos);
  }

  /** Whether a request that arrived then runs before all that arrived earlier. */
  public boolean overtakes(long arrivedNanos) {
    return newestFirst && arrivedNanos - newestFirstSinceNanos > 0;
  }

  /** Whether a caller that was queued for this long will usually stay until it is served. */
  public boolean isInTime(long queuedNanos) {
    return patienceNanos == 0 || queuedNanos + serviceNanos <= patienceNanos;
  }

  private static long towards(long usual, long sample) {
    long most = Math.max(1, usual / MAX_STEP_DIVISOR);
    return usual == 0 ? sample : usual + Math.clamp(sample - usual, -most, most);
  }
}
