package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.activator.settings.ProxyServerProperties.ReadinessProperties;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.Readiness;
import dev.activator.lifecycle.ActivatorHealth.AutoscalerReadinessPolicy;
import dev.activator.testing.LogLines;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the kubelet sees on port 8012 while the autoscaler is away, by Knative's manifest. */
@Isolated("reads the log")
class AutoscalerTimeoutTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final VirtualLoop loop = new VirtualLoop();
  private final LogLines log = LogLines.of(LifecycleConfiguration.class);

  @AfterEach
  void close() {
    log.close();
  }

  @ParameterizedTest(name = "needed {0}, no autoscaler for three minutes: ready after {1} s, restarted {2}")
  @CsvSource(nullValues = "never", value = {"STARTUP, 60, false", "NEVER, 0, false",
      "ALWAYS, never, true"})
  void theManifestsLivenessDoesNotRestartIt(AutoscalerReadinessPolicy policy, Integer readyAfter,
      boolean restarted) {
    var health = new ActivatorHealth(policy);
    LifecycleConfiguration.synced(health, new ReadinessProperties(policy, TIMEOUT), loop);

    // when the kubelet asks as the manifest has it: after 15 s, every 10 s, 12 failures in a row
    Integer readyAt = null;
    int failures = 0;
    int most = 0;
    for (int second = 0; second <= 180; second++) {
      boolean ready = health.readiness() instanceof Readiness.Ready;
      readyAt = readyAt == null && ready ? Integer.valueOf(second) : readyAt;
      if (second >= 15 && (second - 15) % 10 == 0) {
        failures = ready ? 0 : failures + 1;
        most = Math.max(most, failures);
      }
      loop.advance(Duration.ofSeconds(1));
    }

    assertThat(readyAt).isEqualTo(readyAfter);
    assertThat(most >= 12).isEqualTo(restarted);
  }

  @Test
  @DisplayName("an autoscaler that comes in time leaves no warning")
  void anAutoscalerThatComesInTimeLeavesNoWarning() {
    var health = new ActivatorHealth(AutoscalerReadinessPolicy.STARTUP);
    LifecycleConfiguration.synced(health,
        new ReadinessProperties(AutoscalerReadinessPolicy.STARTUP, TIMEOUT), loop);

    health.link(true);
    loop.advance(TIMEOUT);

    assertThat(log.at(Level.WARN)).isEmpty();
    assertThat(health.servesWithoutLink()).isFalse();
  }

  @Test
  @DisplayName("serving without the autoscaler is warned of once")
  void servingWithoutTheAutoscalerIsWarnedOfOnce() {
    var health = new ActivatorHealth(AutoscalerReadinessPolicy.STARTUP);
    LifecycleConfiguration.synced(health,
        new ReadinessProperties(AutoscalerReadinessPolicy.STARTUP, TIMEOUT), loop);

    loop.advance(TIMEOUT.multipliedBy(10));

    assertThat(log.at(Level.WARN)).singleElement().asString()
        .contains("The autoscaler is not connected 60 s after the informers have synced");
    assertThat(health.servesWithoutLink()).isTrue();
  }
}
