package dev.activator.observability;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestRevisions;
import dev.activator.config.ObservabilityConfig;
import dev.activator.config.ParsedSettings;
import dev.activator.testing.VirtualLoop;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import java.io.OutputStream;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When requests are counted. */
class TelemetryLifecycleTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final RequestObservers observers = new RequestObservers();
  private final TestRevisions revisions = new TestRevisions(loop, FakeRequest.revision(Map.of()));
  private final Meters meters = new Meters();
  private final RequestMeters counts = new RequestMeters(meters, revisions.live);
  private final TelemetryLifecycle observability = new TelemetryLifecycle(observers, counts,
      new AsyncLineWriter(OutputStream.nullOutputStream()));

  @AfterEach
  void close() {
    observability.close();
  }

  private void metrics(String protocol) {
    var config = (ParsedSettings.Valid<ObservabilityConfig>) ObservabilityConfig
        .parse(Map.of("metrics-protocol", protocol));
    observability.use(config.settings(), TelemetryOverrides.NONE);
  }

  private double counted() {
    FakeRequest.of(observers, loop, revisions).answered(200, ofMillis(5));
    return meters.read().get(MetricDefinition.SERVER_DURATION) instanceof HistogramSnapshot all
        ? all.getDataPoints().stream().mapToLong(HistogramDataPointSnapshot::getCount).sum()
        : 0;
  }

  @Test
  void countsNothingWithoutMetrics() {
    metrics("none");

    assertThat(counted()).isZero();
  }

  @Test
  void countsEachRequestOnce_alsoIfTheSettingsChange() {
    metrics("prometheus");
    assertThat(counted()).isEqualTo(1);

    metrics("prometheus");
    assertThat(counted()).isEqualTo(2);
  }
}
