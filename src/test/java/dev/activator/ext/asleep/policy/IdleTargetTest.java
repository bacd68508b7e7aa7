package dev.activator.ext.asleep.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.config.ConfigValue;
import dev.activator.revision.IdleSpec;
import dev.activator.revision.ScaleTargetRef;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IdleTargetTest {
  private static final ScaleTargetRef WEB = new ScaleTargetRef("apps/v1", "Deployment", "web");

  private static IdleTarget read(String yaml) {
    return IdleTarget.of(WEB,
        new IdleSpec((Map<?, ?>) ConfigValue.parse("spec.idle", yaml).value(), null),
        Set.of("sleep", "shrink"));
  }

  @Test
  void theDefaultsAreThoseOfVllm() {
    assertThat(read("{do: sleep}")).isEqualTo(new IdleTarget(WEB, "sleep", Duration.ZERO,
        Duration.ZERO,
        new SleepCalls("/sleep?level=1", "/wake_up", "/is_sleeping", Duration.ofSeconds(30)),
        ShrinkSpec.NONE));
  }

  @Test
  void readsAllFields() {
    assertThat(read("""
        do: sleep
        afterSeconds: 120
        thenZeroAfterSeconds: 3600
        sleep: {path: /s?a=b, wakePath: /w, isSleepingPath: "", timeoutSeconds: 5}
        """)).isEqualTo(new IdleTarget(WEB, "sleep", Duration.ofSeconds(120),
        Duration.ofSeconds(3600), new SleepCalls("/s?a=b", "/w", "", Duration.ofSeconds(5)),
        ShrinkSpec.NONE));
  }

  @Test
  void readsWhatToShrinkTo() {
    assertThat(read("{do: shrink, shrink: {requests: {cpu: 1m}, limits: {memory: 1}}}").shrink())
        .isEqualTo(new ShrinkSpec(Map.of("cpu", "1m"), Map.of("memory", "1"),
            Duration.ofSeconds(10)));
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "3, 3", "600, 3"})
  void requestsDoNotWaitLong_forANodeThatCannotShrinkAPod(int timeout, int expected) {
    assertThat(read("{do: shrink, shrink: {requests: {cpu: 1m}, timeoutSeconds: " + timeout
        + "}}").shrink().shrinkTimeout()).hasSeconds(expected);
  }

  @Test
  void shrinkIsRefusedWithoutACluster() {
    assertThatThrownBy(() -> IdleTarget.of(WEB, new IdleSpec(Map.of("do", "shrink"), null),
        Set.of("sleep", "freeze"))).hasMessageStartingWith(
            "spec.idle.do shrink is possible in a cluster only");
  }

  @Test
  void podsAreOnlyWoken_onceTheFieldIsRemoved() {
    assertThat(IdleTarget.of(WEB, IdleSpec.NONE, Set.of()).method()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "{} | spec.idle.do must be sleep, shrink or freeze",
      "{do: shrink} | spec.idle.shrink must have requests or limits",
      "{do: shrink, shrink: {timeoutSeconds: 5}} | spec.idle.shrink must have requests or limits",
      "{do: shrink, shrink: {requests: {gpu: 1}}} | spec.idle.shrink.requests has no field gpu",
      "{do: shrink, shrink: {requests: {cpu: some}}} | spec.idle.shrink.requests.cpu must be a quantity",
      "{do: shrink, shrink: {limits: {cpu: 0}}} | spec.idle.shrink.limits.cpu must be a quantity over 0",
      "{do: shrink, shrink: {requests: {cpu: 2}, limits: {cpu: 1}}} | spec.idle.shrink.limits.cpu must be at least the request, 2",
      "{do: freeze} | spec.idle.do freeze is possible in embedded mode only",
      "{do: sleep, after: 3} | spec.idle has no field after",
      "{do: sleep, afterSeconds: soon} | spec.idle.afterSeconds must be",
      "{do: sleep, thenZeroAfterSeconds: 0} | spec.idle.thenZeroAfterSeconds must be",
      "{do: sleep, sleep: {path: sleep}} | spec.idle.sleep.path must be a path that begins with /",
      "{do: sleep, sleep: {path: '/a b'}} | spec.idle.sleep.path must be a path that begins with /",
      "{do: sleep, sleep: {wakePath: {}}} | spec.idle.sleep.wakePath must be",
      "{do: sleep, sleep: {isSleepingPath: '//evil.example/%zz'}} | spec.idle.sleep.isSleepingPath must be",
      "{do: sleep, sleep: {timeoutSeconds: 0}} | spec.idle.sleep.timeoutSeconds must be"})
  void whatCannotBeFollowedIsRefusedWithItsPath(String yaml, String sentence) {
    assertThatThrownBy(() -> read(yaml)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(sentence);
  }
}
