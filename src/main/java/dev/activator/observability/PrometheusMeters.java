package dev.activator.observability;

import dev.activator.observability.meter.Family;
import dev.activator.observability.meter.Point;
import dev.activator.observability.meter.Tags;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.List;

/**
 * Shows our meters to Prometheus, under the names that OpenTelemetry's exporter gives them.
 *
 * <p>
 * <b>Threads.</b> Any may collect.
 */
public final class PrometheusMeters implements MultiCollector {
  private final Meters meters;
  private final Tags resource;

  /** @param resource what tells this process from others, shown as {@code target_info} */
  public PrometheusMeters(Meters meters, Tags resource) {
    this.meters = meters;
    this.resource = resource;
  }

  @Override
  public MetricSnapshots collect() {
    var snapshots = new ArrayList<MetricSnapshot>();
    snapshots.add(InfoSnapshot.builder().name("target").help("What tells it from others.")
        .dataPoint(InfoSnapshot.InfoDataPointSnapshot.builder().labels(labels(resource)).build())
        .build());
    for (var family : meters.read()) {
      if (!family.points().isEmpty()) {
        snapshots.add(snapshot(family));
      }
    }
    return new MetricSnapshots(snapshots);
  }

  private static MetricSnapshot snapshot(Family family) {
    return switch (family.metric().kind()) {
      case GAUGE, UP_DOWN_COUNTER -> gauge(family);
      case COUNTER -> counter(family);
      case HISTOGRAM -> histogram(family);
    };
  }

  private static MetricSnapshot gauge(Family family) {
    var metric = family.metric();
    var gauge = GaugeSnapshot.builder().name(metric.familyName()).help(metric.sentence());
    for (var point : values(family)) {
      gauge.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder().value(point.value())
          .labels(labels(point.tags())).build());
    }
    return gauge.build();
  }

  private static MetricSnapshot counter(Family family) {
    var metric = family.metric();
    var counter = CounterSnapshot.builder().name(metric.familyName()).help(metric.sentence());
    for (var point : values(family)) {
      counter.dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder().value(point.value())
          .labels(labels(point.tags())).build());
    }
    return counter.build();
  }

  private static List<Point.Value> values(Family family) {
    return family.points().stream().map(Point.Value.class::cast).toList();
  }

  private static MetricSnapshot histogram(Family family) {
    var metric = family.metric();
    var histogram = HistogramSnapshot.builder().name(metric.familyName()).help(metric.sentence());
    for (var point : family.points()) {
      histogram.dataPoint(point((Point.Spread) point));
    }
    return histogram.build();
  }

  private static HistogramDataPointSnapshot point(Point.Spread spread) {
    var buckets = ClassicHistogramBuckets.builder();
    for (int i = 0; i < spread.counts().length - 1; i++) {
      buckets.bucket(spread.buckets().bound(i), spread.counts()[i]);
    }
    buckets.bucket(Double.POSITIVE_INFINITY, spread.counts()[spread.counts().length - 1]);
    return HistogramDataPointSnapshot.builder().classicHistogramBuckets(buckets.build())
        .sum(spread.sum()).labels(labels(spread.tags())).build();
  }

  private static Labels labels(Tags tags) {
    return Labels.of(tags.names().stream().map(name -> name.replace('.', '_')).toList(),
        tags.values());
  }
}
