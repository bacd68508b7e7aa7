package dev.activator.standalone.autoscaler.policy;

import java.util.Arrays;

/**
 * A sliding window over the values of one metric, one for each of the last seconds, and their
 * average.
 *
 * <p>The average includes the seconds from the first report to the last. A second without a report
 * in between counts as 0. Seconds after the last report are not included until a whole window has
 * passed.
 *
 * <p><b>Units.</b> Seconds, counted from any origin.
 *
 * <p><b>Source.</b> {@code pkg/autoscaler/aggregation/bucketing.go} of Knative Serving.
 */
final class MetricWindow {
  private static final double SMALLEST_SMOOTHING = 0.2;
  /** The share of the total weight that lies beyond the window. */
  private static final double WEIGHT_BEYOND = 0.0001;
  private static final double DECIMALS = 1e6;

  private final boolean weighted;
  private double[] buckets;
  private boolean written;
  private long last;
  /** Whether {@link #first} is set. It is not after the resize of a window that was too old. */
  private boolean begun;
  private long first;
  private double total;

  /** @param weighted whether recent seconds have more weight */
  MetricWindow(int seconds, boolean weighted) {
    this.weighted = weighted;
    this.buckets = new double[seconds];
  }

  /** Adds a value to a second. A second that has left the window is ignored. */
  void record(long second, double value) {
    if (!written || second != last) {
      if (written && second + buckets.length <= last) {
        return;
      }
      if (!begun || second < first) {
        first = second;
        begun = true;
      }
      if (!written || second > last) {
        moveTo(second);
      }
    }
    buckets[index(second)] += value;
    total += value;
  }

  private void moveTo(long second) {
    if (!written || second - last >= buckets.length) {
      Arrays.fill(buckets, 0);
      total = 0;
      first = second;
    } else {
      for (long passed = last + 1; passed <= second; passed++) {
        total -= buckets[index(passed)];
        buckets[index(passed)] = 0;
      }
    }
    last = second;
    written = true;
  }

  /** The average at this second; 0 if the window has no values. */
  double average(long second) {
    long silent = Math.max(0, second - last);
    if (!written || !begun) {
      return 0;
    }
    return weighted ? weightedAverage(silent) : linearAverage(silent);
  }

  private double linearAverage(long silent) {
    if (silent >= buckets.length) {
      return 0;
    }
    double sum = total;
    // These buckets hold seconds that have left the window since the last value.
    for (long passed = last + 1; passed <= last + silent; passed++) {
      sum -= buckets[index(passed)];
    }
    return rounded(sum / Math.min(last - first + 1, buckets.length - silent));
  }

  private double weightedAverage(long silent) {
    if (silent > buckets.length) {
      return 0;
    }
    double smoothing = Math.max(SMALLEST_SMOOTHING,
        1 - Math.pow(WEIGHT_BEYOND, 1.0 / buckets.length));
    double weight = smoothing * Math.pow(1 - smoothing, silent);
    double sum = 0;
    for (int age = 0; age < buckets.length - silent; age++) {
      sum += weight * buckets[index(last - age)];
      weight *= 1 - smoothing;
    }
    return sum;
  }

  /** Rounds half away from zero, as Go does. */
  private static double rounded(double value) {
    return Math.signum(value) * Math.floor(Math.abs(value) * DECIMALS + 0.5) / DECIMALS;
  }

  /** Changes the length of the window, and keeps the values that fit. */
  void resize(int seconds, long now) {
    int before = buckets.length;
    if (seconds == before) {
      return;
    }
    var resized = new double[seconds];
    double kept = 0;
    boolean recent = written && now - last <= before;
    if (recent) {
      for (long second = last; second > last - Math.min(before, seconds); second--) {
        double value = buckets[index(second)];
        resized[(int) Math.floorMod(second, (long) seconds)] = value;
        kept += value;
      }
      first = last - (before - 1);
    }
    begun = recent;
    buckets = resized;
    total = kept;
  }

  private int index(long second) {
    return (int) Math.floorMod(second, (long) buckets.length);
  }
}
