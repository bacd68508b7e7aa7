package dev.activator.standalone.autoscaler.policy;

import dev.activator.revision.ScalingView.KeepWarmEffect;
import dev.activator.revision.ScalingView.KeepWarmEffect.Range;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A histogram of the idle times of one workload. It predicts how long after the last request the
 * next one will come, so that a pod can be ready then. Only idle times longer than the usual window
 * are counted.
 *
 * <p><b>Source.</b> The histogram policy of "Serverless in the Wild" (USENIX ATC 2020, section
 * 4.2), with its percentiles, its margin, and its measure of how representative the histogram is.
 * If the histogram is not representative, the usual window applies. Times beyond the histogram are
 * not predicted.
 */
public final class IdleHistory {
  static final int BINS = 60;
  static final int MIN_TIMES = 10;
  /**
   * When this number of idle times is exceeded, all counts are halved, so that recent ones weigh
   * more.
   */
  static final int MAX_TIMES = 200;
  /**
   * The minimum of the bins' standard deviation divided by their mean. Below it, no idle time is
   * clearly more likely than others.
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

  /** @param max the longest time that a pod may be kept after a request */
  public IdleHistory(Duration max) {
    this.binNanos = Math.max(1, max.toNanos() / BINS);
  }

  /** When a pod should be ready; null while the usual window should apply. */
  public @Nullable Range range() {
    return range;
  }

  /**
   * Records that a request came after this idle time.
   *
   * @param window the usual window, after which the workload is scaled to zero
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
      var from = now.from().compareTo(window) > 0 ? now.from() : window;
      var to = idle.compareTo(now.to()) < 0 ? idle : now.to();
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

  /** The first bin for which it and the bins before contain at least this number of idle times. */
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

  public KeepWarmEffect view(boolean observeOnly) {
    return new KeepWarmEffect(observeOnly, range, predicted, saved, cost);
  }
}
