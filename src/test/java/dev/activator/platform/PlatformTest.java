package dev.activator.platform;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ClusterActivator;
import dev.activator.app.properties.ClusterProperties;
import dev.activator.app.properties.OutboundProxyProperties;
import dev.activator.app.properties.IdentityProperties;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import reactor.netty.resources.LoopResources;

class PlatformTest {
  private static final IdentityProperties IDENTITY = new IdentityProperties("pod", "10.0.0.1",
      "knative-serving", "cluster.local");

  private static void embedded(Consumer<Platform> check) {
    var resources = LoopResources.create("wiring", 1, true);
    try {
      check.accept(new EmbeddedPlatform(new EmbeddedPlatform.Settings(0, 0, ofSeconds(6), 1, true),
          resources.onServer(LoopResources.DEFAULT_NATIVE), new Random(1), _ -> 0));
    } finally {
      resources.dispose();
    }
  }

  @Test
  void whoRunsTheRevisionsHimselfGetsTheWholeCauseOfAFailedStart() {
    embedded(platform -> assertThat(platform.showsStartMessages()).isTrue());
  }

  @Test
  void anIdleConnectionDoesNotKeepALocalProcessFromAcceptingAnother() {
    embedded(platform -> assertThat(platform.idleTimeout()).isLessThan(ofSeconds(1)));
  }

  @Test
  void callersOfAClusterGetNoMoreThanTheyShouldKnow() {
    var cluster = new ClusterProperties("", "http://127.0.0.1:1", "", 0, 0, "", ofSeconds(1),
        "v1.34.0", ofSeconds(60), ofSeconds(600), ofSeconds(60));

    var platform = new ClusterActivator().platform(cluster, IDENTITY,
        new OutboundProxyProperties("", "", ""));

    assertThat(platform.showsStartMessages()).isFalse();
    assertThat(platform.idleTimeout()).isEqualTo(ofSeconds(90));
  }
}
