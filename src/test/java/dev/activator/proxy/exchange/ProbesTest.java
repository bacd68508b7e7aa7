package dev.activator.proxy.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.exchange.Router.Probes;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.MapFields;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ProbesTest {
  @Test
  @DisplayName("of the kubelet are recognised by agent or header")
  void ofTheKubeletAreRecognizedByAgentOrHeader() {
    assertThat(Probes.isFromKubelet(MapFields.of("User-Agent", "kube-probe/1.33"))).isTrue();
    assertThat(Probes.isFromKubelet(MapFields.of("K-Kubelet-Probe", "x"))).isTrue();
    assertThat(Probes.isFromKubelet(MapFields.of("User-Agent", "chromium/734.6.5"))).isFalse();
    assertThat(Probes.isFromKubelet(MapFields.of("K-Kubelet-Probe", ""))).isFalse();
    assertThat(Probes.isFromKubelet(MapFields.of())).isFalse();
  }

  @Test
  void ofTheKubeletAreAnsweredByTheState() {
    assertThat(Probes.toKubelet(null)).isEqualTo(LocalResponse.empty(200));
    assertThat(Probes.toKubelet("received SIGTERM from kubelet"))
        .isEqualTo(LocalResponse.error(500, "received SIGTERM from kubelet"));
  }

  @Test
  void isNoNetworkProbe_whenTheHeaderIsMissingOrEmpty() {
    assertThat(Probes.toNetwork(MapFields.of())).isNull();
    assertThat(Probes.toNetwork(MapFields.of("K-Network-Probe", ""))).isNull();
  }

  @Test
  @DisplayName("of an ingress get their hash back")
  void ofAnIngressGetTheirHashBack() {
    var answer = Probes
        .toNetwork(MapFields.of("K-Network-Probe", "probe", "K-Network-Hash", "abc"));

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.headers()).containsEntry("K-Network-Hash", "abc");
    assertThat(answer.body()).isEmpty();
  }

  @Test
  @DisplayName("of an ingress need a hash")
  void ofAnIngressNeedAHash() {
    assertThat(Probes.toNetwork(MapFields.of("K-Network-Probe", "probe")))
        .isEqualTo(LocalResponse.error(400,
            "a probe request must contain a non-empty \"K-Network-Hash\" header"));
  }

  @Test
  void ofTheAutoscalerAreAnsweredByName() {
    assertThat(Probes.toNetwork(MapFields.of("K-Network-Probe", "activator")))
        .isEqualTo(LocalResponse.plain(200, "activator"));
  }

  @Test
  void ofOthersAreRefusedAndShownEscaped() {
    assertThat(Probes.toNetwork(MapFields.of("K-Network-Probe", "queue")))
        .isEqualTo(LocalResponse.error(400, "unexpected probe header value: \"queue\""));
    assertThat(Probes.toNetwork(MapFields.of("K-Network-Probe", "<a\\'b\">")).body())
        .isEqualTo("unexpected probe header value: \"&lt;a\\\\&#39;b&#34;&gt;\"\n");
  }
}
