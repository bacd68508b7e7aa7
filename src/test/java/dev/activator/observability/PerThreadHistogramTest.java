package dev.activator.observability;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBucket;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Histograms with an array for each thread, next to those of Prometheus' client library. */
class PerThreadHistogramTest {
  private static final Labels LABELS = Labels.of("kn.revision.name", "hello-00001");

  @ParameterizedTest(name = "{0}")
  @EnumSource(names = {"SERVER_DURATION", "SERVER_REQUEST_SIZE", "COLD_START", "PROBES"})
  void countsAsTheLibraryDoes(MetricDefinition metric) {
    var ours = PerThreadHistogram.of(metric, LABELS);
    var upper = LongStream.of(metric.bounds()).mapToDouble(bound -> bound / metric.perUnit());
    var library = Histogram.builder().name(metric.familyName()).constLabels(LABELS).classicOnly()
        .withoutExemplars()
        .classicUpperBounds(upper.toArray()).build();
    var random = new Random(1);

    // each bound, the values next to it, and others
    var values = LongStream.concat(
        LongStream.of(metric.bounds())
            .flatMap(bound -> LongStream.of(Math.max(0, bound - 1), bound, bound + 1)),
        random.longs(1_000, 0, 2 * metric.bounds()[metric.bounds().length - 1])).toArray();
    for (long value : values) {
      // as if from four event loops
      ours.record(ours.counts().own(random.nextInt(4)), value);
      library.observe(value / metric.perUnit());
    }

    var expected = library.collect().getDataPoints().getFirst();
    assertThat(buckets(ours)).isEqualTo(expected.getClassicBuckets().stream()
        .map(PerThreadHistogramTest::text).toList());
    assertThat(ours.snapshot().getCount()).isEqualTo(values.length);
    assertThat(ours.snapshot().getSum()).isEqualTo(LongStream.of(values).sum() / metric.perUnit());
    assertThat((Object) ours.snapshot().getLabels()).isEqualTo(expected.getLabels());
  }

  private static List<String> buckets(PerThreadHistogram histogram) {
    return histogram.snapshot().getClassicBuckets().stream().map(PerThreadHistogramTest::text)
        .toList();
  }

  private static String text(ClassicHistogramBucket bucket) {
    return "%s: %d".formatted(bucket.getUpperBound(), bucket.getCount());
  }

  @Test
  void losesNothingOfThreadsThatRecordTogether() throws Exception {
    var meters = new Meters();
    var histogram = PerThreadHistogram.of(MetricDefinition.SERVER_REQUEST_SIZE, LABELS);
    var start = new CyclicBarrier(4);
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 4; i++) {
      threads.add(Thread.ofPlatform().start(() -> {
        await(start);
        IntStream.range(0, 10_000)
            .forEach(_ -> histogram.record(histogram.counts().own(meters.thread()), 7));
      }));
    }
    for (var thread : threads) {
      thread.join();
    }

    assertThat(histogram.snapshot().getCount()).isEqualTo(40_000);
    assertThat(histogram.snapshot().getSum()).isEqualTo(280_000);
  }

  @Test
  void numbersThreadsFromZero() throws Exception {
    var meters = new Meters();
    var other = new ArrayList<Integer>();
    int first = meters.thread();
    Thread.ofPlatform().start(() -> other.add(meters.thread())).join();

    assertThat(first).isZero();
    assertThat(meters.thread()).isZero();
    assertThat(other).containsExactly(1);
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception stopped) {
      throw new IllegalStateException(stopped);
    }
  }
}
