package dev.activator.waking.policy;

import java.util.Arrays;

/**
 * What was learned of one pair of revisions: how often a start of the caller was followed by a call to
 * the callee, and how soon.
 *
 * <p>An episode is a start of the caller from zero by a request, while the callee was at zero, too.
 *
 * @param hits episodes with a call, recent ones weighing more
 * @param misses episodes without one, likewise
 * @param episodes how many there were since it was learned
 * @param missesInRow up to now
 * @param skipped -1 unless it was unlearned; then how many episodes have passed since
 * @param delaysMillis of the last calls, from when the caller's first request got its permit; negative for
 *     one during its start
 */
public record CallChainEdge(double hits, double misses, int episodes, int missesInRow, int skipped,
    int[] delaysMillis) {
  /** Before the first call. */
  public static final CallChainEdge UNKNOWN = new CallChainEdge(0, 0, 0, 0, -1, new int[0]);

  static final double MIN_SHARE = 0.7;
  private static final int MIN_EPISODES = 3;
  private static final int MAX_MISSES = 3;
  private static final int RETRY_EVERY = 10;
  /** After this many episodes an episode counts half. */
  private static final double DECAY = Math.pow(0.5, 1 / 20.0);
  private static final double CONFIDENCE = 0.1;
  private static final int MAX_DELAYS = 16;
  private static final double NINE_TENTHS = 0.9;

  public CallChainEdge called(int delayMillis) {
    int kept = Math.min(delaysMillis.length, MAX_DELAYS - 1);
    int[] delays = new int[kept + 1];
    System.arraycopy(delaysMillis, delaysMillis.length - kept, delays, 0, kept);
    delays[kept] = delayMillis;
    return new CallChainEdge(hits * DECAY + 1, misses * DECAY, episodes + 1, 0,
        // The retry was useful.
        isRetried() ? -1 : afterEpisode(), delays);
  }

  public CallChainEdge missed() {
    if (hits == 0) {
      return new CallChainEdge(0, 0, 0, 0, afterEpisode(), delaysMillis);
    }
    if (missesInRow + 1 == MAX_MISSES) {
      return new CallChainEdge(0, 0, 0, 0, 0, new int[0]);
    }
    return new CallChainEdge(hits * DECAY, misses * DECAY + 1, episodes + 1, missesInRow + 1,
        afterEpisode(),
        delaysMillis);
  }

  private int afterEpisode() {
    return skipped < 0 ? -1 : skipped + 1;
  }

  /** Whether the callee should start with the caller in the next episode. */
  public boolean wakes() {
    return isLikely() && (skipped < 0 || isRetried());
  }

  private boolean isRetried() {
    return skipped >= 0 && (skipped + 1) % RETRY_EVERY == 0 && isLikely();
  }

  /** An unbroken row of hits needs no bound, which would need six of them. */
  private boolean isLikely() {
    return episodes >= MIN_EPISODES
        && (misses == 0 || BetaDistribution.cdf(MIN_SHARE, hits + 1, misses + 1) <= CONFIDENCE);
  }

  /** The share of episodes with a call. */
  public double share() {
    return hits == 0 ? 0 : hits / (hits + misses);
  }

  /** One tenth of the calls came sooner. */
  public int soonMillis() {
    return delay(1 - NINE_TENTHS);
  }

  /** Nine tenths of the calls came sooner. */
  public int lateMillis() {
    return delay(NINE_TENTHS);
  }

  private int delay(double quantile) {
    if (delaysMillis.length == 0) {
      return 0;
    }
    int[] sorted = delaysMillis.clone();
    Arrays.sort(sorted);
    return sorted[(int) Math.round(quantile * (sorted.length - 1))];
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CallChainEdge that && hits == that.hits && misses == that.misses
        && episodes == that.episodes && missesInRow == that.missesInRow && skipped == that.skipped
        && Arrays.equals(delaysMillis, that.delaysMillis);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(new double[]{hits, misses, episodes, missesInRow, skipped});
  }

  @Override
  public String toString() {
    return Math.round(hits) + " of " + Math.round(hits + misses) + " times";
  }
}
