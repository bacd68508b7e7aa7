package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ModeTest {
  @Test
  void saysHowToHaveTheOtherModeWhereTheShellChoseACluster() {
    assertThat(Mode.hint(Map.of("KUBECONFIG", "/home/me/.kube/config"))).contains(
        "KUBECONFIG is '/home/me/.kube/config'", "ACTIVATOR_MODE=embedded");
    assertThat(Mode.hint(Map.of())).isEmpty();
    assertThat(Mode.hint(Map.of("KUBECONFIG", "/x", "ACTIVATOR_MODE", "cluster"))).isEmpty();
    assertThat(Mode.hint(Map.of("KUBECONFIG", "/x", "KUBERNETES_SERVICE_HOST", "10.0.0.1")))
        .isEmpty();
  }

  @Test
  void isEmbeddedWhereThereIsNoSignOfACluster() {
    assertThat(Mode.of(Map.of("KUBECONFIG", " "))).isEqualTo(Mode.EMBEDDED);
  }

  @Test
  void isClusterInAPodAndWithAKubeconfig() {
    assertThat(Mode.of(Map.of("KUBERNETES_SERVICE_HOST", "10.0.0.1"))).isEqualTo(Mode.CLUSTER);
    assertThat(Mode.of(Map.of("KUBECONFIG", "/tmp/config"))).isEqualTo(Mode.CLUSTER);
  }

  @Test
  void canBeForcedEitherWay() {
    var pod = Map.of("KUBERNETES_SERVICE_HOST", "10.0.0.1");

    assertThat(Mode.of(with(pod, "embedded"))).isEqualTo(Mode.EMBEDDED);
    assertThat(Mode.of(with(pod, "Cluster"))).isEqualTo(Mode.CLUSTER);
    assertThat(Mode.of(with(pod, "standalone"))).isEqualTo(Mode.STANDALONE);
  }

  @Test
  void saysWhatIsMissingWhenAClusterIsForcedWithoutOne() {
    assertThatThrownBy(() -> Mode.of(Map.of("ACTIVATOR_MODE", "cluster")))
        .hasMessageContaining("KUBERNETES_SERVICE_HOST is not set")
        .hasMessageContaining("--kubeconfig");
    assertThatThrownBy(() -> Mode.of(Map.of("ACTIVATOR_MODE", "standalone")))
        .hasMessageContaining("ACTIVATOR_MODE is 'standalone', but this is no pod");
  }

  @Test
  void refusesAnotherWordByName() {
    assertThatThrownBy(() -> Mode.of(Map.of("ACTIVATOR_MODE", "laptop"))).hasMessage(
        "ACTIVATOR_MODE is 'laptop', but can only be 'cluster', 'standalone' or 'embedded'");
  }

  private static Map<String, String> with(Map<String, String> pod, String mode) {
    return Map.of("KUBERNETES_SERVICE_HOST", pod.get("KUBERNETES_SERVICE_HOST"), "ACTIVATOR_MODE",
        mode);
  }
}
