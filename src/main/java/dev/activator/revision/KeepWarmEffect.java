package dev.activator.revision;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The effect of keeping a pod by the history of idle times: the cold starts that it has avoided, or
 * would have avoided.
 *
 * @param range null while the usual window applies
 * @param predicted the number of requests that ended an idle time while there was a range
 * @param saved how many of them found a pod because of the range
 * @param cost how long one pod was kept only because of the range
 */
public record KeepWarmEffect(boolean observeOnly, @Nullable Range range, int predicted, int saved,
    Duration cost) {
  /** The effect in words, for people. */
  public String sentence() {
    return (observeOnly ? "by idle times, would have saved " : "by idle times, has saved ")
        + saved
        + " of " + predicted + " starts for " + cost.toSeconds() + " s of a pod; "
        + (range == null
            ? "the usual window applies now, as no idle time is likely"
            : "a pod is likely to be needed " + range + " after the last request");
  }

  /**
   * The times since the last request at which a pod should be ready: from {@code from}, inclusive,
   * to {@code to}, exclusive.
   */
  public record Range(Duration from, Duration to) {
    public boolean contains(Duration idle) {
      return idle.compareTo(from) >= 0 && idle.compareTo(to) < 0;
    }

    @Override
    public String toString() {
      return from.toSeconds() + " s to " + to.toSeconds() + " s";
    }
  }
}
