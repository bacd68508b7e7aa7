package dev.activator.throttle.policy;

/**
 * In which order the queued requests of one revision run: in order of arrival; or newest first, once
 * callers leave a standing queue before they are served.
 *
 * <p>
 * A queue whose callers have a timeout grows until its head has almost reached that timeout. In order
 * of arrival each permit then goes to a caller that leaves before its response is there, and nobody is
 * served. The newest caller has the most time left.
 *
 * <p>
 * Who was queued for less than {@link #STANDING_NANOS} says nothing about the queue, and is not
 * counted. Who ran for longer than it was queued did not leave because of the queue.
 *
 * <p>
 * <b>Units.</b> Points in time by the loop's clock; they mean nothing before the first caller leaves.
 *
 * <p>
 * <b>Source.</b> Adaptive LIFO: Maurer, "Fail at Scale" (2015); the standing queue: Nichols and
 * Jacobson, "Controlling Queue Delay" (2012), as in folly's {@code Codel}.
 *
 * @param newestFirst whether requests that arrive after {@code turnedNanos} run newest first, and
 *     before all others
 * @param turnedNanos when the order last became newest first
 * @param leaving the share of the last queued requests whose callers left, 0 to 1
 * @param lastLeftNanos when the last caller left
 * @param patienceNanos how long callers that leave usually stay, from arrival; 0 if unknown
 * @param serviceNanos how long a request usually runs; 0 if unknown
 */
public record QueueOrder(boolean newestFirst, long turnedNanos, double leaving,
    long lastLeftNanos, long patienceNanos, long serviceNanos) {
  /** In order of arrival; nothing is known. */
  public static final QueueOrder BY_ARRIVAL = new QueueOrder(false, 0, 0, 0, 0, 0);
  /** A request that was queued for this long was in a standing queue, not in a short burst. */
  public static final long STANDING_NANOS = 100_000_000L;

  /** Reached by three that leave in a row, and by no single ones. */
  private static final double TOO_MANY_LEAVE = 1 / 6.0;
  /** The weight of the last request in {@code leaving}. */
  private static final double WEIGHT = 1 / 16.0;
  /** The usual times change by no more than this part at once, so that one outlier is not believed. */
  private static final int LEAST_PART = 16;
  private static final long LEAST_QUIET_NANOS = 1_000_000_000L;

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
    double share = before.leaving + (1 - before.leaving) * WEIGHT;
    boolean turns = !before.newestFirst && share >= TOO_MANY_LEAVE;
    return new QueueOrder(before.newestFirst || turns, turns ? nowNanos : before.turnedNanos, share,
        nowNanos, towards(patienceNanos, queuedNanos + ranNanos), serviceNanos);
  }

  /** A caller left while nothing could run: no order would have helped, and only patience is learned. */
  public QueueOrder leftStarting(long queuedNanos) {
    return queuedNanos < STANDING_NANOS
        ? this
        : new QueueOrder(newestFirst, turnedNanos, leaving, lastLeftNanos,
            towards(patienceNanos, queuedNanos), serviceNanos);
  }

  /** A queued request was served; parameters as for {@link #left}. */
  public QueueOrder served(long queuedNanos, long ranNanos) {
    return queuedNanos < STANDING_NANOS
        ? this
        : new QueueOrder(newestFirst, turnedNanos, leaving * (1 - WEIGHT), lastLeftNanos,
            patienceNanos, towards(serviceNanos, ranNanos));
  }

  /** The order at this time: that of arrival again, if nobody has left for a while. */
  public QueueOrder at(long nowNanos) {
    long quiet = Math.max(LEAST_QUIET_NANOS, 2 * patienceNanos);
    boolean plain = !newestFirst && leaving == 0;
    return plain || nowNanos - lastLeftNanos < quiet
        ? this
        : new QueueOrder(false, 0, 0, 0, patienceNanos, serviceNanos);
  }

  /** Whether a request that arrived then runs before all that arrived earlier. */
  public boolean overtakes(long arrivedNanos) {
    return newestFirst && arrivedNanos - turnedNanos > 0;
  }

  /** Whether a caller that was queued for this long will usually stay until it is served. */
  public boolean isInTime(long queuedNanos) {
    return patienceNanos == 0 || queuedNanos + serviceNanos <= patienceNanos;
  }

  private static long towards(long usual, long sample) {
    long most = Math.max(1, usual / LEAST_PART);
    return usual == 0 ? sample : usual + Math.clamp(sample - usual, -most, most);
  }
}
