package dev.activator.observability;

import io.prometheus.metrics.core.metrics.Info;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.Predicate;

/**
 * The registry of the process's metrics.
 *
 * <p><b>Threads.</b> Any may call.
 */
public final class Meters implements MultiCollector {
  private final List<Consumer<Reading>> sources = new CopyOnWriteArrayList<>();
  private final Map<MetricDefinition, Map<Labels, PerThreadHistogram>> measured = new ConcurrentHashMap<>();

  private final AtomicInteger threads = new AtomicInteger();
  private final ThreadLocal<Integer> thread = ThreadLocal.withInitial(threads::getAndIncrement);

  public Meters() {
    add(reading -> measured.values().forEach(series -> series.values()
        .forEach(reading::add)));
  }

  /**
   * The number of the calling thread. Numbers are never reused, so only few, long-lived threads
   * such as event loops should count.
   */
  int thread() {
    return thread.get();
  }

  public void add(Consumer<Reading> source) {
    sources.add(source);
  }

  /** @param value read at each scrape; NaN for no series */
  public void number(MetricDefinition metric, Labels labels, DoubleSupplier value) {
    add(reading -> {
      double now = value.getAsDouble();
      if (!Double.isNaN(now)) {
        reading.add(metric, labels, now);
      }
    });
  }

  /** Adds series whose labels are known only at the scrape. */
  public void numbers(MetricDefinition metric, Consumer<BiConsumer<Labels, Double>> values) {
    add(reading -> values.accept((labels, value) -> reading.add(metric, labels, value)));
  }

  /** Records a duration that is too rare for the caller to keep the histogram. */
  public void measured(MetricDefinition metric, Labels labels, Duration took) {
    var histogram = measured.computeIfAbsent(metric, _ -> new ConcurrentHashMap<>())
        .computeIfAbsent(labels, it -> PerThreadHistogram.of(metric, it));
    histogram.record(histogram.counts().own(thread()), took.toNanos());
  }

  /** Drops the series whose labels match. */
  public void forget(MetricDefinition metric, Predicate<Labels> matches) {
    var series = measured.get(metric);
    if (series != null) {
      series.keySet().removeIf(matches);
    }
  }

  /** @param process the labels of {@code target_info} */
  public void register(PrometheusRegistry registry, Labels process) {
    Info.builder().name("target").help("What distinguishes it from others.").constLabels(process)
        .register(registry);
    registry.register(this);
  }

  @Override
  public MetricSnapshots collect() {
    return new MetricSnapshots(read().values());
  }

  /** The current values, in the order of {@link MetricDefinition}. */
  public Map<MetricDefinition, MetricSnapshot> read() {
    var reading = new Reading();
    sources.forEach(source -> source.accept(reading));
    return reading.snapshots();
  }

  public static final class Reading {
    private final Map<MetricDefinition, Map<Labels, Double>> values = new EnumMap<>(
        MetricDefinition.class);
    private final Map<MetricDefinition, List<HistogramDataPointSnapshot>> histograms = new EnumMap<>(
        MetricDefinition.class);

    private Reading() {}

    /** Adds a value; combines values of the same series. */
    public void add(MetricDefinition metric, Labels labels, double value) {
      values.computeIfAbsent(metric, _ -> new LinkedHashMap<>()).merge(labels, value,
          metric::combine);
    }

    void add(PerThreadHistogram histogram) {
      histograms.computeIfAbsent(histogram.metric(), _ -> new ArrayList<>())
          .add(histogram.snapshot());
    }

    private Map<MetricDefinition, MetricSnapshot> snapshots() {
      var all = new EnumMap<MetricDefinition, MetricSnapshot>(MetricDefinition.class);
      values.forEach((metric, series) -> all.put(metric,
          metric.kind() == MetricDefinition.Kind.COUNTER
              ? counter(metric, series)
              : gauge(metric, series)));
      histograms.forEach((metric, points) -> {
        var histogram = HistogramSnapshot.builder().name(metric.familyName())
            .help(metric.sentence());
        points.forEach(histogram::dataPoint);
        all.put(metric, histogram.build());
      });
      return all;
    }

    private static MetricSnapshot counter(MetricDefinition metric, Map<Labels, Double> series) {
      var counter = CounterSnapshot.builder().name(metric.familyName()).help(metric.sentence());
      series.forEach((labels, value) -> counter.dataPoint(
          CounterDataPointSnapshot.builder().labels(labels).value(value).build()));
      return counter.build();
    }

    private static MetricSnapshot gauge(MetricDefinition metric, Map<Labels, Double> series) {
      var gauge = GaugeSnapshot.builder().name(metric.familyName()).help(metric.sentence());
      series.forEach((labels, value) -> gauge
          .dataPoint(GaugeDataPointSnapshot.builder().labels(labels).value(value).build()));
      return gauge.build();
    }
  }
}
