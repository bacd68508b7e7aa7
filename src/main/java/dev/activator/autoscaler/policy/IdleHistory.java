package dev.activator.autoscaler.policy;

import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How long one workload was idle before requests came, and from that, when after the last request a
 * pod should be there. Only times that are longer than the usual window count.
 *
 * <p><b>Source.</b> The histogram policy of "Serverless in the Wild" (USENIX ATC 2020, section
 * 4.2), with its percentiles, margin and measure of how representative the histogram is. Where that
 * is not, the usual window holds; there is no forecast of times beyond the histogram.
 */
public final class IdleHistory {
  static final int BINS = 60;
  static final int MIN_TIMES = 10;
  /** The number of times at which all counts are halved, so that a change of habits is learnt. */
  static final int MAX_TIMES = 200;
  /**
   * The minimum of the bins' standard deviation divided by their mean. With less, no time is more
   * likely than others.
   */
  private static final double MIN_VARIATION = 2;
  private static final double HEAD = 0.05;
  private static final double TAIL = 0.99;
  private static final double MARGIN = 0.1;

  private final long binNanos;
  private final double[] bins = new double[BINS];
  private double beyond;
  private @Nullable Range range;
  private int predicted;
  private int saved;
  private Duration cost = Duration.ZERO;

  /**
   * The time since the last request in which a pod should be there: from the first duration to the
   * second.
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

  /**
   * What the history has saved, or would have saved.
   *
   * @param range null while the usual window holds
   * @param predicted requests after an idle time that came while there was a range
   * @param saved those that found a pod because of it
   * @param cost how long one pod was there only because of it
   */
  public record View(boolean observeOnly, @Nullable Range range, int predicted, int saved,
      Duration cost) {
    /** For people. */
    public String sentence() {
      return (observeOnly ? "by idle times, would have saved " : "by idle times, has saved ")
          + saved
          + " of " + predicted + " starts for " + cost.toSeconds() + " s of a pod; "
          + (range == null
              ? "the usual window holds now, as no time is likely"
              : "a pod is likely to be needed " + range + " after the last request");
    }
  }

  /** @param max the longest that a pod may stay after a request */
  public IdleHistory(Duration max) {
    this.binNanos = Math.max(1, max.toNanos() / BINS);
  }

  /** When a pod should be there; null while the usual window should hold. */
  public @Nullable Range range() {
    return range;
  }

  /**
   * A request came after this idle time.
   *
   * @param window the usual one, after which the workload goes to zero
   */
  public void ended(Duration idle, Duration window) {
    if (idle.compareTo(window) < 0) {
      return;
    }
    count(idle, window);
    int bin = (int) Math.min(BINS, idle.toNanos() / binNanos);
    if (bin == BINS) {
      beyond++;
    } else {
      bins[bin]++;
    }
    if (Arrays.stream(bins).sum() + beyond > MAX_TIMES) {
      beyond /= 2;
      Arrays.setAll(bins, i -> bins[i] / 2);
    }
    range = predict();
  }

  private void count(Duration idle, Duration window) {
    var now = range;
    if (now != null) {
      predicted++;
      saved += now.contains(idle) ? 1 : 0;
      var from = now.from.compareTo(window) > 0 ? now.from : window;
      var to = idle.compareTo(now.to) < 0 ? idle : now.to;
      cost = to.compareTo(from) > 0 ? cost.plus(to.minus(from)) : cost;
    }
  }

  private @Nullable Range predict() {
    double inside = Arrays.stream(bins).sum();
    if (inside < MIN_TIMES || beyond > inside || variation(inside) < MIN_VARIATION) {
      return null;
    }
    double from = binOf(HEAD * inside) * (1 - MARGIN) * binNanos;
    double to = Math.min(BINS, (binOf(TAIL * inside) + 1) * (1 + MARGIN)) * binNanos;
    return new Range(Duration.ofNanos((long) from), Duration.ofNanos((long) to));
  }

  private double variation(double inside) {
    double mean = inside / BINS;
    double squares = Arrays.stream(bins).map(count -> (count - mean) * (count - mean)).sum();
    return Math.sqrt(squares / BINS) / mean;
  }

  /** The first bin with which this number of times is reached. */
  private int binOf(double times) {
    double sum = 0;
    for (int i = 0; i < BINS; i++) {
      sum += bins[i];
      if (sum >= times && sum > 0) {
        return i;
      }
    }
    return BINS - 1;
  }

  public View view(boolean observeOnly) {
    return new View(observeOnly, range, predicted, saved, cost);
  }
}
