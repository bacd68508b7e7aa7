package dev.activator.backend.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbeVerdict.Kind;
import dev.activator.config.NetworkConfig.MeshMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbeVerdictTest {
  @ParameterizedTest(name = "{0} \"{1}\" is {2}")
  @CsvSource({"200, queue, HEALTHY", "200, 'queue\n', UNHEALTHY", "200, activator, UNHEALTHY",
      "200, '', UNHEALTHY", "204, queue, UNHEALTHY", "404, queue, UNHEALTHY",
      "500, queue, UNHEALTHY", "502, queue, MESH_LIKE", "503, '', MESH_LIKE",
      "504, '', UNHEALTHY"})
  void checksForAMeshFirstThenTheStatusThenTheBody(int status, String body, Kind kind) {
    assertThat(ProbeVerdict.of(status, body).kind()).isEqualTo(kind);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"200, HEALTHY", "204, HEALTHY", "302, HEALTHY", "399, HEALTHY", "400, UNHEALTHY",
      "404, UNHEALTHY", "500, UNHEALTHY", "502, MESH_LIKE", "503, MESH_LIKE", "101, UNHEALTHY"})
  void takesTheContainersStatusAsKubernetesDoes(int status, Kind kind) {
    assertThat(ProbeVerdict.ofContainer(status).kind()).isEqualTo(kind);
  }

  @ParameterizedTest(name = "\"{0}\" is {1}")
  @CsvSource({"auto, AUTO", "Enabled, ENABLED", "DISABLED, DISABLED", "'', AUTO", "on, AUTO"})
  void readsMeshModesAsKnativeDoes(String text, MeshMode mode) {
    assertThat(MeshMode.parse(text)).isEqualTo(mode);
  }
}
