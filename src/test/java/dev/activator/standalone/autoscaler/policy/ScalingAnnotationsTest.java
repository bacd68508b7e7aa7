package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.autoscaler.policy.ScalingAnnotations.Defaults;
import dev.activator.standalone.autoscaler.policy.ScalingAnnotations.Problem;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Bounds;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Metric;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScalingAnnotationsTest {
  private static final String GROUP = "autoscaling.knative.dev/";
  private static final Defaults DEFAULTS = new Defaults(Duration.ofSeconds(60), 10);

  private static ScalingSettings settings(int containerConcurrency, String... annotations) {
    return ScalingAnnotations.settings(map(annotations), containerConcurrency, DEFAULTS);
  }

  private static Map<String, String> map(String... annotations) {
    var map = new HashMap<String, String>();
    for (int i = 0; i < annotations.length; i += 2) {
      map.put(GROUP + annotations[i], annotations[i + 1]);
    }
    return map;
  }

  @Test
  void aRevisionWithoutAnnotationsHasTheDefaults() {
    var settings = settings(0);

    assertThat(settings.aims().getFirst().perPod()).isEqualTo(70);
    assertThat(settings.aims().getFirst().metric()).isEqualTo(Metric.CONCURRENCY);
    assertThat(settings.windows().stable()).isEqualTo(Duration.ofSeconds(60));
    assertThat(settings.windows().panic()).isEqualTo(Duration.ofSeconds(6));
    assertThat(settings.windows().panicThreshold()).isEqualTo(2);
    assertThat(settings.limits().downDelay()).isZero();
    assertThat(settings.idle().retention()).isZero();
    assertThat(settings.bounds()).isEqualTo(new Bounds(0, 10, 0));
  }

  @ParameterizedTest(name = "of {0} with target {1} and utilization {2}: {3}")
  @CsvSource({"1, , , 0.7", "0, 20, , 14", "10, 20, , 7", "20, 10, , 7", "0, 20, 100, 20",
      "0, 0.01, , 0.01"})
  void aimsAtAPartOfTheTarget(int containerConcurrency, String target, String utilization,
      double aim) {
    var annotations = new HashMap<String, String>();
    if (target != null) {
      annotations.put(GROUP + "target", target);
    }
    if (utilization != null) {
      annotations.put(GROUP + "target-utilization-percentage", utilization);
    }

    assertThat(
        ScalingAnnotations.settings(annotations, containerConcurrency, DEFAULTS).aims().getFirst()
            .perPod())
        .isEqualTo(aim);
  }

  @Test
  void readsEveryAnnotation() {
    var settings = settings(0, "window", "2m", "panic-window-percentage", "20",
        "panic-threshold-percentage", "150", "min-scale", "2", "max-scale", "5", "initial-scale",
        "3", "scale-down-delay", "1m30s", "scale-to-zero-pod-retention-period", "45s", "metric",
        "rps", "metric-aggregation-algorithm", "weighted-exponential", "activation-scale", "4");

    assertThat(settings.windows().stable()).isEqualTo(Duration.ofMinutes(2));
    assertThat(settings.windows().panic()).isEqualTo(Duration.ofSeconds(24));
    assertThat(settings.windows().panicThreshold()).isEqualTo(1.5);
    assertThat(settings.windows().weighted()).isTrue();
    assertThat(settings.bounds()).isEqualTo(new Bounds(2, 5, 3));
    assertThat(settings.limits().downDelay()).isEqualTo(Duration.ofSeconds(90));
    assertThat(settings.limits().activation()).isEqualTo(4);
    assertThat(settings.idle().retention()).isEqualTo(Duration.ofSeconds(45));
    assertThat(settings.aims().getFirst().metric()).isEqualTo(Metric.REQUESTS_PER_SECOND);
    assertThat(settings.aims().getFirst().perPod()).isEqualTo(140);
  }

  @Test
  void readsTheOlderSpellingWhereTheNewOneIsAbsent() {
    assertThat(settings(0, "minScale", "1", "maxScale", "3").bounds())
        .isEqualTo(new Bounds(1, 3, 0));
    assertThat(settings(0, "minScale", "1", "min-scale", "2").bounds().min()).isEqualTo(2);
    assertThat(settings(0, "scaleDownDelay", "4s").limits().downDelay()).isEqualTo(
        Duration.ofSeconds(4));
  }

  @Test
  void theMinimumRaisesTheMaximum() {
    assertThat(settings(0, "min-scale", "12").bounds()).isEqualTo(new Bounds(12, 12, 0));
    assertThat(settings(0, "max-scale", "0").bounds()).isEqualTo(new Bounds(0, 10, 0));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', value = {
      "window | 1s | expected 6s <= 1s <= 1h0m0s: KEY",
      "window | 2h | expected 6s <= 2h <= 1h0m0s: KEY",
      "window | 6.5s | must be specified with at most second precision: KEY",
      "window | soon | invalid value: soon: KEY",
      "window | 60 | invalid value: 60: KEY",
      "panic-window-percentage | 0.5 | expected 1 <= 0.5 <= 100: KEY",
      "panic-window-percentage | ten | invalid value: ten: KEY",
      "panic-threshold-percentage | 100 | expected 110 <= 100 <= 1000: KEY",
      "target-utilization-percentage | 101 | expected 1 <= 101 <= 100: KEY",
      "target | 0 | target 0 should be at least 0.01: KEY",
      "target | many | invalid value: many: KEY",
      "scale-to-zero-pod-retention-period | -1s | expected 0s <= -1s <= 1h0m0s: KEY",
      "scale-down-delay | 1.5s | must be specified with at most second precision: KEY",
      "scale-down-delay | 2h | expected 0s <= 2h <= 1h0m0s: KEY",
      "initial-scale | -1 | invalid value: -1: KEY must be greater than 0",
      "initial-scale | one | invalid value: one: KEY",
      "min-scale | -1 | expected 0 <= -1 <= 2147483647: KEY",
      "min-scale | 1.5 | invalid value: 1.5: KEY",
      "max-scale | 2147483648 | expected 0 <= 2147483648 <= 2147483647: KEY",
      "activation-scale | 1 | activation-scale=1 must be greater than 1: KEY",
      "metric | cpu | invalid value: cpu: KEY",
      "metric-aggregation-algorithm | cubic | invalid value: cubic: KEY"})
  void namesWhatIsWrongAndThenCountsItAsAbsent(String name, String value, String message) {
    String key = GROUP + name;

    assertThat(ScalingAnnotations.problems(map(name, value)))
        .containsExactly(new Problem(key, message.replace("KEY", key)));
    if (!name.equals("activation-scale")) {
      assertThat(settings(0, name, value)).isEqualTo(settings(0));
    }
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"window, 6s", "window, 1h", "panic-window-percentage, 1",
      "panic-window-percentage, 100", "panic-threshold-percentage, 110",
      "panic-threshold-percentage, 1000", "target-utilization-percentage, 100", "target, 0.01",
      "scale-to-zero-pod-retention-period, 0s", "scale-down-delay, 1h", "initial-scale, 0",
      "min-scale, 0", "max-scale, 2147483647", "activation-scale, 2", "metric, concurrency",
      "metric-aggregation-algorithm, linear", "metric-aggregation-algorithm, weightedExponential"})
  void takesTheEndsOfEachRange(String name, String value) {
    assertThat(ScalingAnnotations.problems(map(name, value))).isEmpty();
  }

  @ParameterizedTest(name = "[{0}]")
  @CsvSource({"20s, 20, ''", "1h30m, 5400, ''", "'', 600, 'invalid value: '",
      "soon, 600, 'invalid value: soon'", "0s, 600, 'progress-deadline=0s must be positive'",
      "-5s, 600, 'progress-deadline=-5s must be positive'",
      "1500ms, 600, 'progress-deadline=1500ms must be specified with at most second precision'"})
  void podsMustBeReadyWithinTheProgressDeadline(String value, int seconds, String problem) {
    var annotations = Map.of("serving.knative.dev/progress-deadline", value);

    assertThat(ScalingAnnotations.settings(annotations, 0, DEFAULTS).idle().progressDeadline())
        .isEqualTo(Duration.ofSeconds(seconds));
    assertThat(ScalingAnnotations.problems(annotations).stream().map(Problem::message))
        .isEqualTo(problem.isEmpty()
            ? List.of()
            : List.of(problem + ": serving.knative.dev/progress-deadline"));
  }

  @Test
  void weighsRecentSecondsOnly_whenEnabled() {
    assertThat(settings(0).windows().weighted()).isFalse();
    assertThat(settings(0, "metric-aggregation-algorithm", "linear").windows().weighted())
        .isFalse();
    assertThat(settings(0, "metric-aggregation-algorithm", "weightedExponential").windows()
        .weighted()).isTrue();
  }

  @Test
  void boundsMayBeEqual() {
    assertThat(messages("min-scale", "3", "max-scale", "3", "activation-scale", "3")).isEmpty();
    assertThat(messages("initial-scale", "2147483647")).isEmpty();
    assertThat(messages("initial-scale", "2147483648")).hasSize(1);
  }

  @Test
  void boundsMustFitTogether() {
    assertThat(messages("min-scale", "3", "max-scale", "2"))
        .containsExactly("max-scale=2 is less than min-scale=3: " + GROUP + "max-scale, " + GROUP
            + "min-scale");
    assertThat(messages("min-scale", "5", "activation-scale", "3")).containsExactly(
        "min-scale=5 is greater than activation-scale=3: " + GROUP + "activation-scale");
    assertThat(messages("max-scale", "2", "activation-scale", "3")).containsExactly(
        "max-scale=2 is less than activation-scale=3: " + GROUP + "activation-scale");
  }

  private static List<String> messages(String... annotations) {
    return ScalingAnnotations.problems(map(annotations)).stream().map(Problem::message).toList();
  }

  @Test
  void anUnreachableRevisionNeedsNoPodsAndGoesAtOnce() {
    var settings = settings(0, "min-scale", "2", "initial-scale", "3", "scale-down-delay", "1m",
        "scale-to-zero-pod-retention-period", "45s").unreachable();

    assertThat(settings.bounds()).isEqualTo(new Bounds(0, 10, 0));
    assertThat(settings.limits().downDelay()).isZero();
    assertThat(settings.idle().retention()).isZero();
  }
}
