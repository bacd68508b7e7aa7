package dev.activator.ext.console;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.platform.Platform.ScalingDefaults;
import dev.activator.kube.ClusterAccess;
import dev.activator.platform.RevisionDetailsSource.Setting;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.Make;
import dev.activator.testing.quiescence.Quiescence;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KnativeAutoscalerDefaultsTest {
  /** Of a text like {@code metric=rps target=50}. */
  private static Map<String, String> annotations(String text) {
    return entries(text.isEmpty() ? List.of() : List.of(text.split(" ")),
        "autoscaling.knative.dev/");
  }

  private static Map<String, String> entries(List<String> texts, String prefix) {
    return texts.stream().map(one -> one.split("="))
        .collect(toMap(one -> prefix + one[0], one -> one[1]));
  }

  private static String row(List<Setting> rows, String name) {
    return rows.stream().filter(row -> row.name().equals(name)).findFirst()
        .map(row -> row.value() + " by " + row.origin()).orElse("none");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', nullValues = "-", value = {
      // What is in the ConfigMap | annotations | limit of a pod | row | what it shows
      "- | '' | 0 | min-scale | 0 by Knative's default; there is no ConfigMap config-autoscaler",
      "'' | '' | 0 | min-scale | 0 by Knative's default",
      "min-scale=2 | '' | 0 | min-scale | 2 by ConfigMap config-autoscaler",
      "min-scale=2 | min-scale=3 | 0 | min-scale | 3 by the annotation autoscaling.knative.dev/min-scale",
      "min-scale=2 | minScale=3 | 0 | min-scale | 3 by the annotation autoscaling.knative.dev/minScale",
      "max-scale=0 | '' | 0 | max-scale | any number by ConfigMap config-autoscaler",
      "'' | '' | 0 | target | 100 by Knative's default",
      "container-concurrency-target-default=50 | '' | 0 | target | 50 by ConfigMap config-autoscaler",
      "container-concurrency-target-default=50 | '' | 4 | target | 4 by container concurrency",
      "requests-per-second-target-default=9 | metric=rps | 4 | target | 9 by ConfigMap config-autoscaler",
      "'' | target=3 | 4 | target | 3 by the annotation autoscaling.knative.dev/target",
      "'' | target=9 | 4 | target | 4 by container concurrency; less than 9, by the annotation autoscaling.knative.dev/target",
      "'' | metric=rps target=9 | 4 | target | 9 by the annotation autoscaling.knative.dev/target",
      "container-concurrency-target-percentage=60 | '' | 0 | target-utilization-percentage | 60 by ConfigMap config-autoscaler",
      "container-concurrency-target-percentage=60 | metric=rps | 0 | target-utilization-percentage | 70 by Knative's default",
      "stable-window=30s | '' | 0 | window | 30s by ConfigMap config-autoscaler",
      "stable-window=30s | window=6s | 0 | window | 6s by the annotation autoscaling.knative.dev/window",
      "scale-to-zero-grace-period=90s | '' | 0 | scale-to-zero-grace-period | 90s by ConfigMap config-autoscaler",
      "enable-scale-to-zero=false | '' | 0 | enable-scale-to-zero | false by ConfigMap config-autoscaler",
      "target-burst-capacity=-1 | '' | 0 | target-burst-capacity | -1 by ConfigMap config-autoscaler",
      // What Knative's autoscaler reads does not hold for others.
      "'' | class=hpa.autoscaling.knative.dev | 4 | target | none",
      "'' | class=hpa.autoscaling.knative.dev metric=cpu target=80 | 4 | target | 80 by the annotation autoscaling.knative.dev/target",
      "pod-autoscaler-class=hpa.autoscaling.knative.dev | '' | 0 | window | none",
      "pod-autoscaler-class=hpa.autoscaling.knative.dev | '' | 0 | min-scale | 0 by Knative's default"})
  void showsTheAnnotationOrWhatHoldsForAll(String content, String annotations, int limit,
      String name, String shown) {
    var defaults = KnativeAutoscalerDefaults.ofKnative(content == null
        ? null
        : entries(content.isEmpty() ? List.of() : List.of(content), ""));

    assertThat(row(defaults.rows(annotations(annotations), limit), name)).isEqualTo(shown);
  }

  @ParameterizedTest
  @CsvSource(nullValues = "-", value = {"'', '', -", "max-scale=7, '', 7",
      "max-scale=7, maxScale=3, 3", "max-scale=7, max-scale=0, -", "max-scale=0, '', -"})
  void theMostPodsAreThoseOfTheAnnotationOrTheConfigMap(String content, String annotations,
      Integer most) {
    assertThat(KnativeAutoscalerDefaults
        .ofKnative(entries(Arrays.stream(content.split(" ")).filter(one -> !one.isEmpty()).toList(),
            ""))
        .maxPods(annotations(annotations))).isEqualTo(most);
  }

  @Test
  void followsTheConfigMapAtRunTime() throws Exception {
    try (var api = EmbeddedApi.start();
        var cluster = Quiescence
            .watch(Make.cluster(() -> new ClusterAccess.At(URI.create(api.url()))))) {
      var defaults = KnativeAutoscalerDefaults.following(cluster, "knative-serving");
      cluster.start();
      assertThat(row(defaults.get().rows(Map.of(), 0), "window"))
          .isEqualTo("60s by Knative's default; there is no ConfigMap config-autoscaler");

      api.store().create(BuiltInKinds.CONFIG_MAP, Objects.parse("""
          {'metadata': {'namespace': 'knative-serving', 'name': 'config-autoscaler'},
           'data': {'stable-window': '90s'}}"""));

      await().untilAsserted(() -> assertThat(row(defaults.get().rows(Map.of(), 0), "window"))
          .isEqualTo("90s by ConfigMap config-autoscaler"));
    }
  }

  @Test
  void inEmbeddedModeTheSettingsOfItsAutoscalerHold() {
    var defaults = KnativeAutoscalerDefaults
        .of(new ScalingDefaults(Duration.ofSeconds(6), 10));

    var rows = defaults.rows(Map.of(), 0);

    assertThat(row(rows, "max-scale")).isEqualTo("10 by activator.embedded.max-pods");
    assertThat(row(rows, "window")).isEqualTo("6s by activator.embedded.stable-window");
    assertThat(row(rows, "target")).isEqualTo("100 by Knative's default");
    assertThat(row(rows, "target-burst-capacity")).isEqualTo("none");
    assertThat(defaults.maxPods(Map.of())).isEqualTo(10);
    assertThat(defaults.maxPods(annotations("max-scale=3"))).isEqualTo(3);
    assertThat(defaults.maxPods(annotations("max-scale=0"))).isEqualTo(10);
    assertThat(defaults.maxPods(annotations("max-scale=many"))).isEqualTo(10);
  }
}
