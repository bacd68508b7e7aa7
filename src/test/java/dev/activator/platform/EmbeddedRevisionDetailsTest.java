package dev.activator.platform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.autoscaler.policy.ScalingAnnotations.Defaults;
import dev.activator.console.PlatformFacts.Setting;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class EmbeddedRevisionDetailsTest {
  private static final Defaults DEFAULTS = new Defaults(Duration.ofSeconds(6), 10);

  private static Setting absent(String name) {
    return new Setting(name, "not set", "the autoscaler");
  }

  @Test
  void showsTheValuesThatHoldForAbsentAnnotations() {
    var limit = new Setting("container concurrency", "4", "the Revision");
    var max = new Setting("max-scale", "3", "the annotation autoscaling.knative.dev/maxScale");
    var other = new Setting("queue-timeout", "none", "default");

    var shown = EmbeddedRevisionDetails.effective(
        List.of(limit, max, absent("min-scale"), absent("target"), absent("metric"),
            absent("window"), other),
        DEFAULTS);

    assertThat(shown).containsExactly(limit, max, new Setting("min-scale", "0", "default"),
        new Setting("target", "4", "container concurrency"),
        new Setting("metric", "concurrency", "default"),
        new Setting("window", "6 s", "activator.embedded.stable-window"), other);
  }

  @Test
  void theTargetIsKnativesWithoutALimit() {
    var unlimited = new Setting("container concurrency", "any number", "the Revision");
    var byRate = new Setting("metric", "rps", "the annotation autoscaling.knative.dev/metric");

    assertThat(EmbeddedRevisionDetails.effective(
        List.of(unlimited, absent("max-scale"), absent("target")), DEFAULTS)).containsExactly(
            unlimited, new Setting("max-scale", "10", "activator.embedded.max-pods"),
            new Setting("target", "100", "default"));
    assertThat(EmbeddedRevisionDetails.effective(List.of(byRate, absent("target")), DEFAULTS))
        .containsExactly(byRate, new Setting("target", "200", "default"));
  }
}
