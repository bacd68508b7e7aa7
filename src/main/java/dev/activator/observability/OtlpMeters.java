package dev.activator.observability;

import dev.activator.observability.meter.Buckets;
import dev.activator.observability.meter.ExportedMetric;
import dev.activator.observability.meter.Family;
import dev.activator.observability.meter.Metric;
import dev.activator.observability.meter.Point;
import dev.activator.observability.meter.Tags;
import dev.activator.observability.request.ServerMeters;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
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
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Shows our meters to OpenTelemetry's exporters, each in the scope and of the type that Knative's has.
 *
 * <p>
 * <b>Threads.</b> Any may ask.
 */
final class OtlpMeters implements MetricProducer {
  private static final InstrumentationScopeInfo KNATIVE = InstrumentationScopeInfo
      .create("knative.dev/serving/pkg/activator");
  private static final InstrumentationScopeInfo HTTP = InstrumentationScopeInfo
      .create("go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp");
  private static final InstrumentationScopeInfo OURS = InstrumentationScopeInfo
      .create("dev.activator");
  /** Attributes that are whole numbers by OpenTelemetry's conventions. */
  private static final Set<String> WHOLE = Set.of("http.response.status_code", "server.port");

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
    var metric = family.metric();
    var data = data(family, now);
    return new ExportedMetric(resource, scope(metric), metric.text(), metric.sentence(),
        metric.unit(), type(data), data);
  }

  private static InstrumentationScopeInfo scope(Metric metric) {
    if (metric.text().startsWith("http.")) {
      return HTTP;
    }
    return metric.text().startsWith("kn.") ? KNATIVE : OURS;
  }

  private Data<?> data(Family family, long now) {
    var metric = family.metric();
    return switch (metric.kind()) {
      case GAUGE -> metric.isWhole()
          ? GaugeData.createLongGaugeData(wholes(family, now))
          : GaugeData.createDoubleGaugeData(values(family, now));
      case COUNTER, UP_DOWN_COUNTER -> SumData.createLongSumData(
          metric.kind() == Metric.Kind.COUNTER, AggregationTemporality.CUMULATIVE,
          wholes(family, now));
      case HISTOGRAM ->
        HistogramData.create(AggregationTemporality.CUMULATIVE, spreads(family, now));
    };
  }

  private static MetricDataType type(Data<?> data) {
    return switch (data) {
      case HistogramData _ -> MetricDataType.HISTOGRAM;
      case SumData<?> _ -> MetricDataType.LONG_SUM;
      default -> data.getPoints().iterator().next() instanceof LongPointData
          ? MetricDataType.LONG_GAUGE
          : MetricDataType.DOUBLE_GAUGE;
    };
  }

  private List<LongPointData> wholes(Family family, long now) {
    return family.points().stream().map(Point.Value.class::cast)
        .map(point -> LongPointData.create(startNanos, now, attributes(point.tags()),
            (long) point.value()))
        .toList();
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
      String name = tags.names().get(i);
      String value = tags.values().get(i);
      if (WHOLE.contains(name)) {
        all.put(name, Long.parseLong(value));
      } else if (name.equals(ServerMeters.OVERFLOW)) {
        all.put(name, Boolean.parseBoolean(value));
      } else {
        all.put(name, value);
      }
    }
    return all.build();
  }
}
