package dev.activator.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ScalingLimitsTest {
  @Test
  void aRevisionWithoutAnnotationsHasNoneToTenPods() {
    assertThat(ScalingLimits.of(0, Map.of(), 10)).isEqualTo(new ScalingLimits(100, 0, 10));
    assertThat(ScalingLimits.of(3, Map.of(), 10)).isEqualTo(new ScalingLimits(3, 0, 10));
  }

  @Test
  void readsBothSpellingsOfAnnotations() {
    assertThat(ScalingLimits.of(1,
        Map.of("autoscaling.knative.dev/min-scale", "2", "autoscaling.knative.dev/max-scale", "4"),
        10))
        .isEqualTo(new ScalingLimits(1, 2, 4));
    assertThat(ScalingLimits.of(1,
        Map.of("autoscaling.knative.dev/minScale", "1", "autoscaling.knative.dev/maxScale", "3"),
        10))
        .isEqualTo(new ScalingLimits(1, 1, 3));
  }

  @Test
  void whatIsNoNumberCountsAsAbsent() {
    assertThat(ScalingLimits.of(1, Map.of("autoscaling.knative.dev/min-scale", "many",
        "autoscaling.knative.dev/max-scale", "0"), 10)).isEqualTo(new ScalingLimits(1, 0, 10));
  }

  @Test
  void theLeastRaisesTheMost() {
    assertThat(ScalingLimits.of(1, Map.of("autoscaling.knative.dev/min-scale", "12"), 10))
        .isEqualTo(new ScalingLimits(1, 12, 12));
  }

  @Test
  void aRevisionThatWasReplacedNeedsNoPods() {
    assertThat(new ScalingLimits(3, 2, 4).withoutLeast()).isEqualTo(new ScalingLimits(3, 0, 4));
  }
}
