package dev.activator.observability;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Arrays;

/**
 * A histogram that is kept per thread, which is cheaper for event loops than the client library's.
 * Histograms that are recorded together share their counts.
 *
 * <p><b>Threads.</b> Any may call. A snapshot may have a value in its bucket but not yet in its
 * sum.
 *
 * <p><b>Units.</b> Nanoseconds where the metric's unit is seconds, else bytes.
 *
 * @param counts of each bucket, then the sum
 * @param offset of the first bucket in {@code counts}
 */
record PerThreadHistogram(Metric metric, Labels labels, PerThreadCounts counts, int offset) {

  static int size(Metric metric) {
    return metric.bounds().length + 2;
  }

  static PerThreadHistogram of(Metric metric, Labels labels) {
    return new PerThreadHistogram(metric, labels, new PerThreadCounts(size(metric)), 0);
  }

  /** @param own the calling thread's array */
  void record(long[] own, long value) {
    var bounds = metric.bounds();
    int bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) {
      bucket++;
    }
    PerThreadCounts.add(own, offset + bucket, 1);
    PerThreadCounts.add(own, offset + bounds.length + 1, value);
  }

  HistogramDataPointSnapshot snapshot() {
    double perUnit = metric.perUnit();
    var bounds = metric.bounds();
    int buckets = bounds.length + 1;
    var upper = new double[buckets];
    Arrays.setAll(upper,
        i -> i < bounds.length ? bounds[i] / perUnit : Double.POSITIVE_INFINITY);
    var sums = counts.sums(offset, offset + buckets + 1);
    return HistogramDataPointSnapshot.builder().labels(labels).classicHistogramBuckets(
        ClassicHistogramBuckets.of(upper, Arrays.copyOf(sums, buckets)))
        .sum(sums[buckets] / perUnit).build();
  }
}
