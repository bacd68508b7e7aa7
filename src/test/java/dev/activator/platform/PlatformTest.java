package dev.activator.platform;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ClusterActivator;
import dev.activator.settings.ClusterProperties;
import dev.activator.settings.OutboundProxyProperties;
import dev.activator.settings.IdentityProperties;
import org.junit.jupiter.api.Test;

class PlatformTest {
  private static final IdentityProperties IDENTITY = new IdentityProperties("pod", "10.0.0.1",
      "knative-serving", "cluster.local");

  @Test
  void callersOfAClusterGetNoMoreThanTheyShouldKnow() {
    var cluster = new ClusterProperties("", "http://127.0.0.1:1", "", 0, 0, "", ofSeconds(1),
        "v1.34.0", ofSeconds(60), ofSeconds(600));

    var platform = new ClusterActivator().platform(cluster, IDENTITY,
        new OutboundProxyProperties("", "", ""));

    assertThat(platform.showsStartMessages()).isFalse();
    assertThat(platform.idleTimeout()).isEqualTo(ofSeconds(90));
  }
}
