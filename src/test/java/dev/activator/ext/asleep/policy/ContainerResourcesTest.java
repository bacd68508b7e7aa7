package dev.activator.ext.asleep.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ConfigValue;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ContainerResourcesTest {
  private static ContainerResources container(String resources) {
    return ContainerResources.of((Map<?, ?>) ConfigValue
        .parse("container", "{name: web, resources: " + resources + "}").value());
  }

  @ParameterizedTest(name = "{0} to {1}")
  @CsvSource(delimiter = '|', value = {
      "{requests: {cpu: '2'}} | {requests: {cpu: 1m}} | {requests: {cpu: 1m}}",
      "{requests: {cpu: 2, memory: 1Gi}} | {requests: {cpu: 1m}} | {requests: {cpu: 1m, memory: 1Gi}}",
      "{requests: {cpu: 1m}} | {requests: {cpu: 10m}} | {requests: {cpu: 1m}}",
      "{requests: {cpu: 2}} | {requests: {memory: 1Mi}} | {requests: {cpu: 2}}",
      "{requests: {cpu: 2}, limits: {cpu: 2}} | {requests: {cpu: 5m}, limits: {cpu: 5m}} |"
          + " {requests: {cpu: 5m}, limits: {cpu: 5m}}",
      "{} | {requests: {cpu: 1m}} | {}"})
  void getsLessOfWhatItHas_andNothingElse(String now, String to, String shrunk) {
    assertThat(container(now).shrunk(ShrinkSpec.read(ConfigValue.parse("shrink", to))))
        .isEqualTo(container(shrunk));
  }

  @Test
  void comparesNumbers() {
    assertThat(container("{requests: {cpu: '1', memory: 1Gi}}")
        .has(container("{requests: {cpu: 1000m, memory: 1024Mi}}"))).isTrue();
    assertThat(container("{requests: {cpu: 1m}}").has(container("{requests: {cpu: '1'}}")))
        .isFalse();
  }

  @Test
  void knowsWhichChangesRestartIt() {
    assertThat(ContainerResources.restartedBy(Map.of("resizePolicy",
        List.of(Map.of("resourceName", "cpu", "restartPolicy", "NotRequired"),
            Map.of("resourceName", "memory", "restartPolicy", "RestartContainer")))))
        .containsExactly("memory");
  }
}
