package dev.activator.ext.otel;

import static dev.activator.observability.FakeRequest.POD;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.FakeRequest;
import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import dev.activator.observability.RequestMeters;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.VirtualLoop;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Clock;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The types that Knative's instruments have where OTLP is spoken. */
class OtelMetricProducerTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final TestRevisions revisions = new TestRevisions(loop, FakeRequest.revision(Map.of()));
  private final Meters meters = new Meters();
  private final RequestMeters observer = new RequestMeters(meters, revisions.live);

  private MetricData exported(String name) {
    return new OtelMetricProducer(meters, Clock.systemUTC()).produce(Resource.empty()).stream()
        .filter(metric -> metric.getName().equals(name)).findFirst().orElseThrow();
  }

  private Attributes attributes(String name) {
    return exported(name).getData().getPoints().iterator().next().getAttributes();
  }

  @ParameterizedTest(name = "{0} is an up-down counter, which is a sum that is not monotonic")
  @CsvSource({"kn.revision.request.queued, 1", "kn.revision.request.active, 2"})
  void whatWaitsAndRunsAreSums(String name, long expected) {
    FakeRequest.of(observer, loop, revisions).begin();
    var waiting = FakeRequest.of(observer, loop, revisions);
    waiting.begin();
    waiting.queued();
    for (int i = 0; i < 2; i++) {
      var running = FakeRequest.of(observer, loop, revisions);
      running.begin();
      running.granted(POD);
    }

    var metric = exported(name);

    assertThat(metric.getType()).isEqualTo(MetricDataType.LONG_SUM);
    assertThat(metric.getLongSumData().isMonotonic()).isFalse();
    assertThat(metric.getLongSumData().getPoints()).extracting(LongPointData::getValue)
        .containsExactly(expected);
    assertThat(metric.getInstrumentationScopeInfo().getName())
        .isEqualTo("knative.dev/serving/pkg/activator");
  }

  @Test
  @DisplayName("errors are a monotonic sum, reachable a gauge, both of whole numbers")
  void theLinkHasWholeNumbers() {
    meters.number(MetricDefinition.LINK_ERRORS, Labels.of("peer", "autoscaler"), () -> 3);
    meters.number(MetricDefinition.LINK_REACHABLE, Labels.of("peer", "autoscaler"), () -> 1);

    var errors = exported("kn.activator.stats.conn.errors");
    var reachable = exported("kn.activator.stats.conn.reachable");

    assertThat(errors.getType()).isEqualTo(MetricDataType.LONG_SUM);
    assertThat(errors.getLongSumData().isMonotonic()).isTrue();
    assertThat(reachable.getType()).isEqualTo(MetricDataType.LONG_GAUGE);
    assertThat(reachable.getLongGaugeData().getPoints()).extracting(LongPointData::getValue)
        .containsExactly(1L);
  }

  @Test
  @DisplayName("the concurrency is a gauge with fractions")
  void theConcurrencyHasFractions() {
    observer.reported(FakeRequest.HELLO, 1.5);

    assertThat(exported("kn.revision.request.concurrency").getType())
        .isEqualTo(MetricDataType.DOUBLE_GAUGE);
  }

  @Test
  @DisplayName("status and port are whole numbers, in the scope of the HTTP instrumentation")
  void statusAndPortAreWholeNumbers() {
    var request = FakeRequest.of(observer, loop, revisions);
    request.host = "hello.example:8012";
    request.answered(200, ofMillis(1));

    for (var name : new String[]{"http.server.request.duration",
        "http.client.request.duration"}) {
      var attributes = attributes(name);
      assertThat(attributes.get(AttributeKey.longKey("http.response.status_code")))
          .isEqualTo(200);
      assertThat(attributes.get(AttributeKey.longKey("server.port"))).isEqualTo(8012);
      assertThat(exported(name).getInstrumentationScopeInfo().getName())
          .isEqualTo("go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp");
    }
  }

  @ParameterizedTest(name = "a host {0} has no port")
  @CsvSource({"hello.example:port", "hello.example:", "hello.example:65536",
      "hello.example:-1", "hello.example:80", "hello.example:123456"})
  void takesNoPortThatIsNone(String host) {
    var request = FakeRequest.of(observer, loop, revisions);
    request.host = host;
    request.answered(200, ofMillis(1));

    assertThat(attributes("http.server.request.duration").asMap().keySet())
        .noneMatch(key -> key.getKey().equals("server.port"));
  }

  @Test
  void whatIsOursIsInItsOwnScope() {
    meters.number(MetricDefinition.QUEUE_DEPTH, Labels.EMPTY, () -> 7);

    var depth = exported("activator.queue.depth");

    assertThat(depth.getInstrumentationScopeInfo().getName()).isEqualTo("dev.activator");
    assertThat(depth.getType()).isEqualTo(MetricDataType.LONG_GAUGE);
  }

  @Test
  void countsTogetherUnderAnAttributeThatIsABoolean() {
    for (int status = 200; status < 900; status++) {
      FakeRequest.of(observer, loop, revisions).answered(status, ofMillis(1));
    }

    assertThat(exported("http.server.request.duration").getData().getPoints())
        .anyMatch(point -> Boolean.TRUE.equals(
            point.getAttributes().get(AttributeKey.booleanKey("otel.metric.overflow"))));
  }
}
