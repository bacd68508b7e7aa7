package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.policy.ConflictSpec;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Regime;
import dev.activator.standalone.policy.LoadTarget;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.policy.ScaledServiceSpec;
import dev.activator.standalone.policy.KeepWarmSettings;
import dev.activator.testing.TestValues;
import java.time.Duration;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScalingSettingsTest {
  private static ScalingSettings of(OptionalInt concurrency, int limit, OptionalInt max) {
    return ScalingSettings.of(TestValues.scaledTarget(new RevisionId("shop", "web"),
        new ScaleTargetRef("apps/v1", "Deployment", "web"), 1, max, concurrency, limit,
        Duration.ofSeconds(30), Duration.ofSeconds(300), OptionalInt.empty()));
  }

  @ParameterizedTest(name = "target {0}, limit {1}: {2}")
  @CsvSource({"20, 0, 20", "20, 40, 20", "50, 40, 40", "40, 40, 40", ", 10, 7"})
  void aimsAtItsTargetButNeverBeyondTheLimitOfAPod(Integer concurrency, int limit, double aim) {
    var target = concurrency == null ? OptionalInt.empty() : OptionalInt.of(concurrency);

    assertThat(of(target, limit, OptionalInt.empty()).aims().getFirst().perPod()).isEqualTo(aim);
  }

  @ParameterizedTest(name = "{0} at once, {1} a second, {2} ms, limit {3}: {4}")
  @CsvSource(delimiter = '|', value = {"20 | | | 0 | [Aim[metric=CONCURRENCY, perPod=20.0]]",
      " | 100 | | 0 | [Aim[metric=REQUESTS_PER_SECOND, perPod=100.0]]",
      // A rate alone would let requests queue at pods that are full.
      " | 100 | | 10 | [Aim[metric=CONCURRENCY, perPod=7.0], Aim[metric=REQUESTS_PER_SECOND, perPod=100.0]]",
      "5 | 100 | 250 | 10 | [Aim[metric=CONCURRENCY, perPod=5.0], Aim[metric=REQUESTS_PER_SECOND, perPod=100.0]]",
      " | | 250 | 10 | [Aim[metric=CONCURRENCY, perPod=7.0]]"})
  void aimsAtEachTargetThatIsGiven(Integer concurrency, Integer rate, Integer queue, int limit,
      String aims) {
    var settings = ScalingSettings.of(new ScaledServiceSpec(new RevisionId("shop", "web"),
        new ScaleTargetRef("apps/v1", "Deployment", "web"), 0, OptionalInt.of(9), false,
        new LoadTarget(optional(concurrency), optional(rate), optional(queue)), limit,
        Duration.ofSeconds(30), Duration.ofSeconds(300), OptionalInt.empty(),
        KeepWarmSettings.NONE, ConflictSpec.NONE, ""));

    assertThat(settings.aims()).hasToString(aims);
    assertThat(settings.queue()).isEqualTo(queue == null ? null : Duration.ofMillis(queue));
    assertThat(settings.withMin(3).queue()).isEqualTo(settings.queue());
    assertThat(settings.unreachable().aims()).isEqualTo(settings.aims());
  }

  private static OptionalInt optional(Integer number) {
    return number == null ? OptionalInt.empty() : OptionalInt.of(number);
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
