package dev.activator.observability;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A histogram that is stored per thread, which is cheaper for event loops than the client
 * library's. Histograms that are recorded together share an array of counts.
 *
 * <p><b>Threads.</b> Any may call. A snapshot may have a value in its bucket but not yet in its
 * sum.
 *
 * <p><b>Units.</b> Nanoseconds where the metric's unit is seconds, else bytes.
 *
 * @param counts the count of each bucket, then the sum
 * @param offset the position of the first bucket in {@code counts}
 * @param traced the traced values; null if metrics have no exemplars
 */
record PerThreadHistogram(MetricDefinition metric, Labels labels, PerThreadCounts counts,
    int offset,
    @Nullable TracedValues traced) {

  static int size(MetricDefinition metric) {
    return metric.bounds().length + 2;
  }

  static PerThreadHistogram of(MetricDefinition metric, Labels labels) {
    return new PerThreadHistogram(metric, labels, new PerThreadCounts(size(metric)), 0, null);
  }

  /** @param own the calling thread's array */
  void record(long[] own, long value) {
    var bounds = metric.bounds();
    int bucket = bucket(value);
    PerThreadCounts.add(own, offset + bucket, 1);
    PerThreadCounts.add(own, offset + bounds.length + 1, value);
  }

  private int bucket(long value) {
    var bounds = metric.bounds();
    int bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) {
      bucket++;
    }
    return bucket;
  }

  /** Records the trace of a value. */
  void trace(long value, String traceId, String spanId, long epochMillis) {
    if (traced != null) {
      traced.keep(bucket(value), metric.bounds().length + 1,
          new TracedValues.Value(value, traceId, spanId, epochMillis));
    }
  }

  HistogramDataPointSnapshot snapshot() {
    double perUnit = metric.perUnit();
    var bounds = metric.bounds();
    int buckets = bounds.length + 1;
    var upper = new double[buckets];
    Arrays.setAll(upper, i -> i < bounds.length ? bounds[i] / perUnit : Double.POSITIVE_INFINITY);
    var sums = counts.sums(offset, offset + buckets + 1);
    return HistogramDataPointSnapshot.builder().labels(labels).classicHistogramBuckets(
        ClassicHistogramBuckets.of(upper, Arrays.copyOf(sums, buckets)))
        .exemplars(traced == null ? Exemplars.EMPTY : traced.exemplars(perUnit))
        .sum(sums[buckets] / perUnit).build();
  }

  /** The last traced value of each bucket. Of two concurrent values one may be lost. */
  static final class TracedValues {
    private volatile @Nullable Value @Nullable [] last;

    private record Value(long value, String traceId, String spanId, long epochMillis) {}

    private void keep(int bucket, int buckets, Value value) {
      var values = last;
      if (values == null) {
        values = new @Nullable Value[buckets];
        last = values;
      }
      values[bucket] = value;
    }

    private Exemplars exemplars(double perUnit) {
      var values = last;
      return values == null
          ? Exemplars.EMPTY
          : Exemplars.of(Arrays.stream(values).<Exemplar>mapMulti((value, all) -> {
            if (value != null) {
              all.accept(Exemplar.builder().value(value.value / perUnit).traceId(value.traceId)
                  .spanId(value.spanId).timestampMillis(value.epochMillis).build());
            }
          }).toList());
    }
  }

  /**
   * Counters that are stored per thread and summed when read. So adding needs no atomic instruction,
   * and threads share no cache line.
   *
   * <p><b>Threads.</b> Any may call, with its own {@link Meters#thread}.
   */
  static final class PerThreadCounts {
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final long[] NONE = {};
    /** The padding of one cache line, so that none is shared with the next object. */
    private static final int PADDING = 8;

    private final int size;
    /** The counts by thread number; empty until the thread adds. */
    private volatile long[][] threads = {};

    PerThreadCounts(int size) {
      this.size = size;
    }

    static void add(long[] own, int index, long more) {
      // Opaque access is enough, because each array has one writer.
      COUNT.setOpaque(own, index, own[index] + more);
    }

    long[] own(int thread) {
      var all = threads;
      return thread < all.length && all[thread].length > 0 ? all[thread] : addThread(thread);
    }

    private synchronized long[] addThread(int thread) {
      var all = Arrays.copyOf(threads, Math.max(threads.length, thread + 1));
      Arrays.fill(all, threads.length, all.length, NONE);
      all[thread] = new long[size + PADDING];
      threads = all;
      return all[thread];
    }

    /** The sums of the threads' counts. They are not a consistent snapshot. */
    long[] sums(int from, int to) {
      var sums = new long[to - from];
      for (var each : threads) {
        for (int i = from; each.length > 0 && i < to; i++) {
          sums[i - from] += (long) COUNT.getOpaque(each, i);
        }
      }
      return sums;
    }
  }
}
