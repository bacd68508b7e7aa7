package dev.activator.standalone.autoscaler.policy;

import dev.activator.revision.QueueTimeHistogram;
import java.time.Duration;
import java.util.TreeMap;

/**
 * Computes from the queue times of the last seconds how many pods are needed so that requests wait
 * no longer than a target.
 *
 * <p>For growth, only requests are counted that arrived after the last pod had become ready.
 * Earlier ones waited with fewer pods, so their times say nothing about the present number.
 *
 * <p><b>Units.</b> Seconds, counted from any origin.
 */
final class QueueTimeScaler {
  private static final int MAX_SECONDS = 60;
  private static final double PERCENTILE = 0.95;
  private static final double MILLIS_PER_SECOND = 1e3;
  /**
   * The tolerance: a smaller excess over the target changes nothing, as in the
   * HorizontalPodAutoscaler.
   */
  private static final double TOLERANCE = 1.1;
  /** The limit of one step of growth. The next step depends on the effect of this one. */
  private static final double MAX_GROWTH = 2;

  private final TreeMap<Long, int[]> seconds = new TreeMap<>();
  private int ready;
  private long grownAt = Long.MIN_VALUE;

  /**
   * @param arrivals the requests that arrived in that second; those that are not in {@code times}
   *     did not wait
   */
  void record(long second, double arrivals, QueueTimeHistogram times) {
    var counts = seconds.computeIfAbsent(second, _ -> new int[QueueTimeHistogram.BUCKETS]);
    times.addTo(counts);
    counts[0] += (int) Math.max(0, Math.round(arrivals) - times.total());
    seconds.headMap(second - MAX_SECONDS, true).clear();
  }

  /**
   * @param pods the number of ready pods; at least 1
   * @param growth the number of seconds over which an excess is measured
   */
  Demand demand(long second, int pods, Duration target, long growth, long stable) {
    if (pods > ready) {
      grownAt = ready == 0 ? Long.MIN_VALUE : second;
    }
    ready = pods;
    double now = percentile(second, growth, grownAt);
    double before = percentile(second, Math.min(stable, MAX_SECONDS), Long.MIN_VALUE);
    return Demand.of(pods, now, before, target.toMillis());
  }

  /**
   * The number of pods that the queue times require.
   *
   * @param millis the 95th percentile that decided, in milliseconds
   */
  record Demand(int pods, double millis) {
    /**
     * Growth follows the percentile of the last seconds. Shrinking also takes that of the whole
     * window into account.
     *
     * @param now the percentile of the last seconds, in milliseconds
     * @param before the percentile of the whole window, in milliseconds
     */
    static Demand of(int ready, double now, double before, double target) {
      if (now > TOLERANCE * target) {
        return new Demand((int) Math.ceil(ready * Math.min(MAX_GROWTH, now / target)), now);
      }
      double slowest = Math.max(now, before);
      return new Demand((int) Math.ceil(ready * Math.min(1, slowest / target)), slowest);
    }
  }

  /** @param since the second at which the last pod became ready */
  private double percentile(long second, long length, long since) {
    var sum = new double[QueueTimeHistogram.BUCKETS];
    double total = 0;
    for (var entry : seconds.tailMap(Math.max(second - length, since), false).entrySet()) {
      for (int bucket = 0; bucket < sum.length; bucket++) {
        boolean came = since == Long.MIN_VALUE || QueueTimeHistogram
            .millis(bucket) <= (entry.getKey() - since) * MILLIS_PER_SECOND;
        if (came) {
          sum[bucket] += entry.getValue()[bucket];
          total += entry.getValue()[bucket];
        }
      }
    }
    double rank = PERCENTILE * total;
    double seen = 0;
    for (int bucket = 0; bucket < sum.length; bucket++) {
      if (sum[bucket] > 0 && seen + sum[bucket] >= rank) {
        // Requests in the first bucket most likely did not wait at all.
        double from = bucket == 0 ? 0 : QueueTimeHistogram.millis(bucket - 1);
        double to = bucket == 0 ? 0 : QueueTimeHistogram.millis(bucket);
        return from + (to - from) * (rank - seen) / sum[bucket];
      }
      seen += sum[bucket];
    }
    return 0;
  }
}
