package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.Readiness;
import dev.activator.lifecycle.ActivatorHealth.AutoscalerReadinessPolicy;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.context.annotation.Bean;
import org.springframework.http.server.reactive.HttpHandler;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

class HealthOnBothPortsTest {
  @ParameterizedTest(name = "with the autoscaler needed: {0}")
  @EnumSource(AutoscalerReadinessPolicy.class)
  @DisplayName("the management port answers as the kubelet's port does")
  void theManagementPortAnswersAsTheKubeletsProbe(AutoscalerReadinessPolicy need) {
    var state = new ActivatorHealth(need);
    var indicator = ManagementServersConfiguration.readiness(state, () -> true);

    agree(state, indicator);
    state.synced();
    agree(state, indicator);
    state.link(true);
    agree(state, indicator);
    state.link(false);
    agree(state, indicator);
    state.draining();
    agree(state, indicator);
  }

  @Test
  void theManagementPortSaysReadyOnlyOnceRequestsAreTaken() {
    var state = new ActivatorHealth(AutoscalerReadinessPolicy.NEVER);
    state.synced();
    var opened = new AtomicBoolean();
    var indicator = ManagementServersConfiguration.readiness(state, opened::get);

    assertThat(indicator.health().getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
    opened.set(true);
    assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
  }

  private static void agree(ActivatorHealth state, HealthIndicator indicator) {
    var health = indicator.health();
    assertThat(health).isNotNull();
    switch (state.readiness()) {
      case Readiness.Ready() -> assertThat(health.getStatus()).isEqualTo(Status.UP);
      case Readiness.NotReady(var message) -> {
        assertThat(health.getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
        assertThat(health.getDetails()).containsEntry("reason", message);
      }
    }
  }

  /** It answers every request with 500 if there are two. */
  @Test
  void springFindsOneHandlerForThePortOfMetrics() {
    assertThat(ManagementServersConfiguration.class.getDeclaredMethods())
        .filteredOn(method -> method.isAnnotationPresent(Bean.class)
            && HttpHandler.class.isAssignableFrom(method.getReturnType()))
        .hasSize(1);
  }
}
