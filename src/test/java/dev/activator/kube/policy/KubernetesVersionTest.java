package dev.activator.kube.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.TestValues;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KubernetesVersionTest {
  @ParameterizedTest(name = "{0} is at least v1.34.0: {1}")
  @CsvSource({"v1.34.0, true", "v1.34.0-alpha.1, true", "v1.34, true", "1.34.7, true",
      "v1.36.2-gke.100, true", "v1.36.2+k3s1, true", "v2.0.0, true", "v1.33.9, false",
      "v1.9.99, false", "v0.99.0, false"})
  void comparesNumbersAndLetsPreReleasesThrough(String text, boolean newEnough) {
    assertThat(KubernetesVersion.parse(text).isAtLeast(TestValues.OLDEST_KUBERNETES))
        .isEqualTo(newEnough);
  }

  @ParameterizedTest(name = "\"{0}\"")
  @ValueSource(strings = {"", "v1", "latest", "v1.x.0", "v1.34.0.1", "v99999999999.1.0"})
  void refusesWhatIsNoVersion(String text) {
    assertThatThrownBy(() -> KubernetesVersion.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("not a version of Kubernetes: '" + text + "'");
  }
}
