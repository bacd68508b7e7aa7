package dev.activator.observability;

import dev.activator.observability.PerThreadHistogram.PerThreadCounts;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * What it costs to count one warm request, next to a request that is not counted and to Micrometer's
 * meters. With several threads ({@code -t}) all count the same revision.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RequestMetersBenchmark {
  private static final double[] BYTES = {5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000,
      7_500, 10_000};
  private static final MetricDefinition[] FIVE = {MetricDefinition.SERVER_DURATION,
      MetricDefinition.SERVER_REQUEST_SIZE,
      MetricDefinition.SERVER_RESPONSE_SIZE, MetricDefinition.CLIENT_DURATION,
      MetricDefinition.CLIENT_REQUEST_SIZE};
  private static final Duration[] SECONDS = {Duration.ofMillis(5), Duration.ofMillis(10),
      Duration.ofMillis(25), Duration.ofMillis(50), Duration.ofMillis(75), Duration.ofMillis(100),
      Duration.ofMillis(250), Duration.ofMillis(500), Duration.ofMillis(750), Duration.ofSeconds(1),
      Duration.ofMillis(2_500), Duration.ofSeconds(5), Duration.ofMillis(7_500),
      Duration.ofSeconds(10)};

  private final RevisionId id = new RevisionId("default", "hello-00001");
  private final TestRevisions revisions = new TestRevisions(new VirtualLoop(), Revision.of(id, 0));
  private final LiveRevision revision = revisions.of(id);
  private final Destination pod = new Destination("10.0.0.1", 8012);
  private final RequestObserver counted = new RequestMeters(new Meters(),
      revisions.live);
  private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(
      PrometheusConfig.DEFAULT);
  private final Timer server = timer("server", tags());
  private final Timer client = timer("client", tags());
  private final DistributionSummary request = summary("request", tags());
  private final DistributionSummary response = summary("response", tags());
  private final DistributionSummary sent = summary("sent", tags());

  private final Meters meters = new Meters();
  private final PerThreadHistogram[] ours = Stream.of(FIVE)
      .map(metric -> PerThreadHistogram.of(metric, Labels.EMPTY))
      .toArray(PerThreadHistogram[]::new);
  private final PerThreadCounts active = new PerThreadCounts(1);
  private final Histogram[] library = Stream.of(FIVE).map(RequestMetersBenchmark::ofLibrary)
      .toArray(Histogram[]::new);
  private final LongAdder libraryActive = new LongAdder();

  @State(Scope.Thread)
  public static class Clock {
    final VirtualLoop loop = new VirtualLoop();
  }

  @Benchmark
  public RequestTimeline notCounted(Clock clock) {
    return warm((_, _) -> {
    }, clock.loop);
  }

  /** All steps of a request, counted as the product does. */
  @Benchmark
  public RequestTimeline counted(Clock clock) {
    return warm(counted, clock.loop);
  }

  private RequestTimeline warm(RequestObserver observer, VirtualLoop loop) {
    var request = FakeRequest.of(observer, loop, revision);
    request.begin();
    request.granted(pod);
    request.forwarding();
    request.responding(200);
    request.wrote(100);
    request.ended(RequestOutcome.ANSWERED, 200);
    return request;
  }

  /** Five histograms and the running requests, found beforehand. */
  @Benchmark
  public void perThreadKept() {
    int thread = meters.thread();
    PerThreadCounts.add(active.own(thread), 0, 1);
    for (var each : ours) {
      each.record(each.counts().own(thread), 100);
    }
    PerThreadCounts.add(active.own(thread), 0, -1);
  }

  /** The same with the client library's. */
  @Benchmark
  public void libraryKept() {
    libraryActive.increment();
    for (var each : library) {
      each.observe(100);
    }
    libraryActive.decrement();
  }

  private static Histogram ofLibrary(MetricDefinition metric) {
    return Histogram.builder().name(metric.familyName()).classicOnly().withoutExemplars()
        .classicUpperBounds(LongStream.of(metric.bounds()).asDoubleStream().toArray()).build();
  }

  /** Micrometer's five histograms, found beforehand. */
  @Benchmark
  public void micrometerKept() {
    server.record(1_000_000, TimeUnit.NANOSECONDS);
    client.record(900_000, TimeUnit.NANOSECONDS);
    request.record(0);
    response.record(100);
    sent.record(0);
  }

  /** The same, each looked up by its tags as one does who keeps nothing. */
  @Benchmark
  public void micrometerLookedUp() {
    timer("server", tags()).record(1_000_000, TimeUnit.NANOSECONDS);
    timer("client", tags()).record(900_000, TimeUnit.NANOSECONDS);
    summary("request", tags()).record(0);
    summary("response", tags()).record(100);
    summary("sent", tags()).record(0);
  }

  private Timer timer(String name, Tags tags) {
    return Timer.builder(name).tags(tags).serviceLevelObjectives(SECONDS).register(registry);
  }

  private DistributionSummary summary(String name, Tags tags) {
    return DistributionSummary.builder(name).tags(tags).serviceLevelObjectives(BYTES)
        .register(registry);
  }

  private Tags tags() {
    return Tags.of("kn_service_name", "hello", "kn_configuration_name", "hello",
        "kn_revision_name", id.name(), "k8s_namespace_name", id.namespace(),
        "http_request_method", "GET", "url_scheme", "http", "server_address", "hello.example",
        "network_protocol_name", "http", "network_protocol_version", "1.1",
        "http_response_status_code", "200");
  }
}
