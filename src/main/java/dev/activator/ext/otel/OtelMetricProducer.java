package dev.activator.ext.otel;

import dev.activator.observability.HttpLabels;
import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
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
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.PrometheusNaming;
import java.time.Clock;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Converts our metrics to OTLP, with Knative's scopes and types. */
final class OtelMetricProducer implements MetricProducer {
  /** The names of labels by their form in Prometheus, in which labels are stored. */
  private static final Map<String, String> NAMES = Stream
      .concat(Stream.of(HttpLabels.OVERFLOW_NAME),
          Arrays.stream(MetricDefinition.values()).flatMap(m -> m.tags().stream()))
      .distinct()
      .collect(Collectors.toUnmodifiableMap(PrometheusNaming::prometheusName, name -> name));
  private static final InstrumentationScopeInfo KNATIVE = InstrumentationScopeInfo
      .create("knative.dev/serving/pkg/activator");
  private static final InstrumentationScopeInfo HTTP = InstrumentationScopeInfo
      .create("go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp");
  private static final InstrumentationScopeInfo OURS = InstrumentationScopeInfo
      .create("dev.activator");

  private final Meters meters;
  private final Clock clock;
  private final long startNanos;

  public OtelMetricProducer(Meters meters, Clock clock) {
    this.meters = meters;
    this.clock = clock;
    this.startNanos = nanos(clock.instant());
  }

  @Override
  public Collection<MetricData> produce(Resource resource) {
    long now = nanos(clock.instant());
    return meters.read().entrySet().stream()
        .<MetricData>map(each -> exported(resource, each.getKey(), each.getValue(), now)).toList();
  }

  private static long nanos(Instant when) {
    return TimeUnit.SECONDS.toNanos(when.getEpochSecond()) + when.getNano();
  }

  private Exported exported(Resource resource, MetricDefinition metric, MetricSnapshot series,
      long now) {
    return switch (metric.kind()) {
      case GAUGE -> metric.isWhole()
          ? new Exported(resource, metric, MetricDataType.LONG_GAUGE,
              GaugeData.createLongGaugeData(points(series, point -> whole(point, now))))
          : new Exported(resource, metric, MetricDataType.DOUBLE_GAUGE,
              GaugeData.createDoubleGaugeData(points(series, point -> fraction(point, now))));
      case COUNTER, UP_DOWN_COUNTER -> new Exported(resource, metric, MetricDataType.LONG_SUM,
          SumData.createLongSumData(metric.kind() == MetricDefinition.Kind.COUNTER,
              AggregationTemporality.CUMULATIVE, points(series, point -> whole(point, now))));
      case HISTOGRAM -> new Exported(resource, metric, MetricDataType.HISTOGRAM,
          HistogramData.create(AggregationTemporality.CUMULATIVE,
              points(series, point -> histogram((HistogramDataPointSnapshot) point, now))));
    };
  }

  private static <P> List<P> points(MetricSnapshot series, Function<DataPointSnapshot, P> each) {
    return series.getDataPoints().stream().<P>map(each).toList();
  }

  private LongPointData whole(DataPointSnapshot point, long now) {
    return LongPointData.create(startNanos, now, attributes(point.getLabels()),
        (long) value(point));
  }

  private DoublePointData fraction(DataPointSnapshot point, long now) {
    return DoublePointData.create(startNanos, now, attributes(point.getLabels()), value(point),
        List.of());
  }

  private static double value(DataPointSnapshot point) {
    return point instanceof CounterDataPointSnapshot counter
        ? counter.getValue()
        : ((GaugeDataPointSnapshot) point).getValue();
  }

  private HistogramPointData histogram(HistogramDataPointSnapshot point, long now) {
    ClassicHistogramBuckets buckets = point.getClassicBuckets();
    // The last bucket has no bound.
    var bounds = IntStream.range(0, buckets.size() - 1).mapToObj(buckets::getUpperBound).toList();
    var counts = IntStream.range(0, buckets.size()).mapToObj(buckets::getCount).toList();
    return HistogramPointData.create(startNanos, now, attributes(point.getLabels()),
        point.getSum(), false, 0, false, 0, bounds, counts);
  }

  /** Some attributes are numbers or booleans, by convention. */
  private static Attributes attributes(Labels labels) {
    var all = Attributes.builder();
    for (int i = 0; i < labels.size(); i++) {
      var name = NAMES.getOrDefault(labels.getPrometheusName(i), labels.getName(i));
      var value = labels.getValue(i);
      switch (name) {
        case "http.response.status_code", "server.port" -> all.put(name, Long.parseLong(value));
        case HttpLabels.OVERFLOW_NAME -> all.put(name, Boolean.parseBoolean(value));
        default -> all.put(name, value);
      }
    }
    return all.build();
  }

  private record Exported(Resource resource, MetricDefinition metric, MetricDataType type,
      Data<?> data)
      implements MetricData {

    @Override
    public Resource getResource() {
      return resource;
    }

    @Override
    public InstrumentationScopeInfo getInstrumentationScopeInfo() {
      if (metric.text().startsWith("http.")) {
        return HTTP;
      }
      return metric.text().startsWith("kn.") ? KNATIVE : OURS;
    }

    @Override
    public String getName() {
      return metric.text();
    }

    @Override
    public String getDescription() {
      return metric.sentence();
    }

    @Override
    public String getUnit() {
      return metric.unit();
    }

    @Override
    public MetricDataType getType() {
      return type;
    }

    @Override
    public Data<?> getData() {
      return data;
    }
  }
}
