package dev.activator.observability;

import dev.activator.observability.meter.Buckets;
import dev.activator.observability.meter.ExportedMetric;
import dev.activator.observability.meter.Family;
import dev.activator.observability.meter.Point;
import dev.activator.observability.meter.Tags;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.metrics.export.MetricProducer;
import io.opentelemetry.sdk.resources.Resource;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Shows our meters to OpenTelemetry's exporters.
 *
 * <p>
 * <b>Threads.</b> Any may ask.
 */
final class OtlpMeters implements MetricProducer {
  private static final InstrumentationScopeInfo OURS = InstrumentationScopeInfo
      .create("knative.dev/serving/pkg/activator");

  private final Meters meters;
  private final Clock clock;
  private final long startNanos;

  /** All that is counted is counted since now. */
  OtlpMeters(Meters meters, Clock clock) {
    this.meters = meters;
    this.clock = clock;
    this.startNanos = nanos(clock.instant());
  }

  @Override
  public Collection<MetricData> produce(Resource resource) {
    long now = nanos(clock.instant());
    var all = new ArrayList<MetricData>();
    for (var family : meters.read()) {
      if (!family.points().isEmpty()) {
        all.add(metric(resource, family, now));
      }
    }
    return all;
  }

  private static long nanos(Instant when) {
    return TimeUnit.SECONDS.toNanos(when.getEpochSecond()) + when.getNano();
  }

  private MetricData metric(Resource resource, Family family, long now) {
    return switch (family.metric().kind()) {
      case GAUGE -> new ExportedMetric(resource, OURS, family.metric().text(),
          family.metric().sentence(), family.metric().unit(), MetricDataType.DOUBLE_GAUGE,
          GaugeData.createDoubleGaugeData(values(family, now)));
      case COUNTER -> new ExportedMetric(resource, OURS, family.metric().text(),
          family.metric().sentence(), family.metric().unit(), MetricDataType.DOUBLE_SUM, SumData
              .createDoubleSumData(true, AggregationTemporality.CUMULATIVE, values(family, now)));
      case HISTOGRAM -> new ExportedMetric(resource, OURS, family.metric().text(),
          family.metric().sentence(), family.metric().unit(), MetricDataType.HISTOGRAM,
          HistogramData.create(AggregationTemporality.CUMULATIVE, spreads(family, now)));
    };
  }

  private List<DoublePointData> values(Family family, long now) {
    return family.points().stream().map(Point.Value.class::cast)
        .map(point -> DoublePointData.create(startNanos, now, attributes(point.tags()),
            point.value(), List.of()))
        .toList();
  }

  private List<HistogramPointData> spreads(Family family, long now) {
    return family.points().stream().map(Point.Spread.class::cast)
        .map(point -> HistogramPointData.create(startNanos, now, attributes(point.tags()),
            point.sum(), false, 0, false, 0, bounds(point.buckets()),
            Arrays.stream(point.counts()).boxed().toList()))
        .toList();
  }

  private static List<Double> bounds(Buckets buckets) {
    return IntStream.range(0, buckets.bounds().length).mapToObj(buckets::bound).toList();
  }

  private static Attributes attributes(Tags tags) {
    var all = Attributes.builder();
    for (int i = 0; i < tags.names().size(); i++) {
      all.put(tags.names().get(i), tags.values().get(i));
    }
    return all.build();
  }
}
