package dev.activator.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.autoscaler.policy.ScalingSettings.Regime;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.revision.ScaledTarget;
import java.time.Duration;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScalingSettingsTest {
  private static ScalingSettings of(OptionalInt concurrency, int limit, OptionalInt max) {
    return ScalingSettings.of(new ScaledTarget(new RevisionId("shop", "web"),
        new ScaleTargetRef("apps/v1", "Deployment", "web"), 1, max, concurrency, limit,
        Duration.ofSeconds(30), Duration.ofSeconds(300), OptionalInt.empty()));
  }

  @ParameterizedTest(name = "target {0}, limit {1}: {2}")
  @CsvSource({"20, 0, 20", "20, 40, 20", "50, 40, 40", "40, 40, 40", ", 10, 7"})
  void aimsAtItsTargetButNeverBeyondTheLimitOfAPod(Integer concurrency, int limit, double aim) {
    var target = concurrency == null ? OptionalInt.empty() : OptionalInt.of(concurrency);

    assertThat(of(target, limit, OptionalInt.empty()).aim().perPod()).isEqualTo(aim);
  }

  @Test
  void aMaximumSaysThatAllReplicasAreOurs() {
    var all = of(OptionalInt.of(1), 0, OptionalInt.of(8));
    assertThat(all.regime()).isEqualTo(Regime.YIELDING);
    assertThat(all.bounds()).isEqualTo(new ScalingSettings.Bounds(1, 8, 0));

    var zeroAndOne = of(OptionalInt.of(1), 0, OptionalInt.empty());
    assertThat(zeroAndOne.regime()).isEqualTo(Regime.ZERO_OR_ONE);
    assertThat(zeroAndOne.bounds()).isEqualTo(new ScalingSettings.Bounds(1, 0, 0));
    assertThat(zeroAndOne.windows().stable()).isEqualTo(Duration.ofSeconds(30));
    assertThat(zeroAndOne.windows().panic()).isEqualTo(Duration.ofSeconds(3));
  }
}
