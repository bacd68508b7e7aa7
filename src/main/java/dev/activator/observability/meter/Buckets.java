package dev.activator.observability.meter;

/**
 * How a distribution is cut into buckets.
 *
 * @param bounds the largest value of each bucket but the last, which has none; in the unit that is
 *     recorded, ascending
 * @param perUnit how many of what is recorded make one of what is shown: 10⁹ where nanoseconds are
 *     recorded and seconds shown
 */
public record Buckets(long[] bounds, double perUnit) {
  private static final double NANOS = 1e9;

  /** Those that OpenTelemetry advises for the duration of a request. */
  public static final Buckets SECONDS = seconds(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5,
      0.75, 1,
      2.5, 5, 7.5, 10);
  /** For starts of pods, which take longer, and their parts, which take less. */
  static final Buckets START_SECONDS = seconds(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
      0.5, 1, 2.5, 5, 10, 30, 60, 120, 300);
  /** For probes: a tenth of a millisecond on the same node, and a timeout far away. */
  static final Buckets PROBE_SECONDS = seconds(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
      0.2, 0.3, 0.5, 1);
  /** Those that OpenTelemetry's SDKs use where nothing else is said. */
  public static final Buckets BYTES = new Buckets(
      new long[]{0, 5, 10, 25, 50, 75, 100, 250, 500, 750,
          1_000, 2_500, 5_000, 7_500, 10_000},
      1);

  private static Buckets seconds(double... bounds) {
    long[] nanos = new long[bounds.length];
    for (int i = 0; i < bounds.length; i++) {
      nanos[i] = Math.round(bounds[i] * NANOS);
    }
    return new Buckets(nanos, NANOS);
  }

  /** In which bucket a value is: the first whose bound it does not exceed. */
  int of(long value) {
    int low = 0;
    int high = bounds.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (value <= bounds[middle]) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /** How many buckets there are, the one without a bound included. */
  int count() {
    return bounds.length + 1;
  }

  /** A bound in the unit that is shown. */
  public double bound(int bucket) {
    return bounds[bucket] / perUnit;
  }
}
