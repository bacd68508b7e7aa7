package dev.activator.observability;

import static dev.activator.observability.FakeRequest.HELLO;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestRevisions;
import dev.activator.config.ObservabilityConfig;
import dev.activator.config.ParsedSettings;
import dev.activator.testing.VirtualLoop;
import java.io.OutputStream;
import java.util.Arrays;
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

  private long counted() {
    FakeRequest.of(observers, loop, revisions).answered(200, ofMillis(5));
    var durations = counts.durations(HELLO);
    return durations == null ? 0 : Arrays.stream(durations).sum();
  }

  @Test
  void countsWithoutMetricsOnlyWhileAPageIsOpen() {
    metrics("none");
    assertThat(counted()).isZero();

    observability.startCounting();
    observability.startCounting();
    assertThat(counted()).isEqualTo(1);
    assertThat(counted()).isEqualTo(2);

    observability.stopCounting();
    assertThat(counted()).isZero();
    observability.startCounting();
    assertThat(counted()).isEqualTo(1);
  }

  @Test
  void countsEachRequestOnceForAPersonAndForPrometheus() {
    // even if the page was open first
    observability.startCounting();
    metrics("prometheus");

    assertThat(counted()).isEqualTo(1);
    observability.stopCounting();
    observability.startCounting();
    assertThat(counted()).isEqualTo(2);
    observability.stopCounting();
    assertThat(counted()).isEqualTo(3);
  }
}
