package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ActivatorModeTest {
  @Test
  void saysHowToHaveTheOtherModeWhereTheShellChoseACluster() {
    assertThat(ActivatorMode.hint(Map.of("KUBECONFIG", "/home/me/.kube/config"))).contains(
        "KUBECONFIG is '/home/me/.kube/config'", "ACTIVATOR_MODE=embedded");
    assertThat(ActivatorMode.hint(Map.of())).isEmpty();
    assertThat(ActivatorMode.hint(Map.of("KUBECONFIG", "/x", "ACTIVATOR_MODE", "cluster")))
        .isEmpty();
    assertThat(
        ActivatorMode.hint(Map.of("KUBECONFIG", "/x", "KUBERNETES_SERVICE_HOST", "10.0.0.1")))
        .isEmpty();
  }

  @Test
  void isEmbeddedWhereThereIsNoSignOfACluster() {
    assertThat(ActivatorMode.of(Map.of("KUBECONFIG", " "))).isEqualTo(ActivatorMode.EMBEDDED);
  }

  @Test
  void isClusterInAPodAndWithAKubeconfig() {
    assertThat(ActivatorMode.of(Map.of("KUBERNETES_SERVICE_HOST", "10.0.0.1")))
        .isEqualTo(ActivatorMode.CLUSTER);
    assertThat(ActivatorMode.of(Map.of("KUBECONFIG", "/tmp/config")))
        .isEqualTo(ActivatorMode.CLUSTER);
  }

  @Test
  void canBeForcedEitherWay() {
    var pod = Map.of("KUBERNETES_SERVICE_HOST", "10.0.0.1");

    assertThat(ActivatorMode.of(with(pod, "embedded"))).isEqualTo(ActivatorMode.EMBEDDED);
    assertThat(ActivatorMode.of(with(pod, "Cluster"))).isEqualTo(ActivatorMode.CLUSTER);
    assertThat(ActivatorMode.of(with(pod, "standalone"))).isEqualTo(ActivatorMode.STANDALONE);
  }

  @Test
  void saysWhatIsMissingWhenAClusterIsForcedWithoutOne() {
    assertThatThrownBy(() -> ActivatorMode.of(Map.of("ACTIVATOR_MODE", "cluster")))
        .hasMessageContaining("KUBERNETES_SERVICE_HOST is not set")
        .hasMessageContaining("--kubeconfig");
    assertThatThrownBy(() -> ActivatorMode.of(Map.of("ACTIVATOR_MODE", "standalone")))
        .hasMessageContaining("ACTIVATOR_MODE is 'standalone', but this is no pod");
  }

  @Test
  void refusesAnotherWordByName() {
    assertThatThrownBy(() -> ActivatorMode.of(Map.of("ACTIVATOR_MODE", "laptop"))).hasMessage(
        "ACTIVATOR_MODE is 'laptop', but can only be 'cluster', 'standalone' or 'embedded'");
  }

  private static Map<String, String> with(Map<String, String> pod, String mode) {
    return Map.of("KUBERNETES_SERVICE_HOST", pod.get("KUBERNETES_SERVICE_HOST"), "ACTIVATOR_MODE",
        mode);
  }
}
