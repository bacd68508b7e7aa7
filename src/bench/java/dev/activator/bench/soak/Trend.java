package dev.activator.bench.soak;

import java.util.Arrays;

/** The trend of samples that were taken at equal intervals. */
final class Trend {
  private Trend() {}

  /**
   * How much a quantity grows from the first sample to the last, by the Theil–Sen estimator: the median of the
   * slopes of all pairs. Samples that a disturbance has moved, up to 29 % of them, do not change it.
   */
  static double growth(double[] samples) {
    int count = samples.length;
    if (count < 2) {
      return 0;
    }
    var slopes = new double[count * (count - 1) / 2];
    int at = 0;
    for (int i = 0; i < count; i++) {
      for (int j = i + 1; j < count; j++) {
        slopes[at++] = (samples[j] - samples[i]) / (j - i);
      }
    }
    return median(slopes) * (count - 1);
  }

  static double median(double[] values) {
    if (values.length == 0) {
      return Double.NaN;
    }
    var sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** The half that was taken last. */
  static double[] secondHalf(double[] samples) {
    return Arrays.copyOfRange(samples, samples.length / 2, samples.length);
  }
}
