package dev.activator.waking.policy;

import java.util.Arrays;

/**
 * What was learned about one pair of revisions: how often, and how soon, a start of the caller was
 * followed by a call to the callee.
 *
 * <p>An episode: a request starts the caller from zero while the callee is at zero, too.
 *
 * @param hits episodes with a call, weighted so that recent ones count more
 * @param misses episodes without a call, weighted in the same way
 * @param episodes the number of episodes since the pair was learned
 * @param missesInRow the number of consecutive misses up to now
 * @param skipped the number of episodes since the pair was unlearned; -1 if the pair is not
 *     unlearned
 * @param delaysMillis for each of the last calls: the time from the moment the caller's first
 *     request got its permit to the call; negative if the call came earlier, while the caller was
 *     still starting
 */
public record CallChainEdge(double hits, double misses, int episodes, int missesInRow, int skipped,
    int[] delaysMillis) {
  /** The value before the first call. */
  public static final CallChainEdge UNKNOWN = new CallChainEdge(0, 0, 0, 0, -1, new int[0]);

  static final double MIN_SHARE = 0.7;
  private static final int MIN_EPISODES = 3;
  private static final int MAX_MISSES = 3;
  private static final int RETRY_EVERY = 10;
  /**
   * The factor by which the weight of an episode falls with each later one; it is half after 20.
   */
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
        // A retry that was useful ends the unlearning.
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

  /** Whether the callee should be started with the caller in the next episode. */
  public boolean wakes() {
    return isLikely() && (skipped < 0 || isRetried());
  }

  private boolean isRetried() {
    return skipped >= 0 && (skipped + 1) % RETRY_EVERY == 0 && isLikely();
  }

  /**
   * Whether a call is likely. Without a miss, three episodes are enough; the confidence bound alone
   * would need six.
   */
  private boolean isLikely() {
    return episodes >= MIN_EPISODES
        && (misses == 0 || BetaDistribution.cdf(MIN_SHARE, hits + 1, misses + 1) <= CONFIDENCE);
  }

  /** The share of episodes with a call. */
  public double share() {
    return hits == 0 ? 0 : hits / (hits + misses);
  }

  /** The delay at which one tenth of the calls had come. */
  public int soonMillis() {
    return delay(1 - NINE_TENTHS);
  }

  /** The delay at which nine tenths of the calls had come. */
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
