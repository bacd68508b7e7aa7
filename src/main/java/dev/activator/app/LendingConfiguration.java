package dev.activator.app;

import dev.activator.app.properties.IdentityProperties;
import dev.activator.app.properties.LendingProperties;
import dev.activator.app.properties.LendingProperties.Mode;
import dev.activator.app.properties.ProxyServerProperties;
import dev.activator.cluster.ClusterWatcher;
import dev.activator.console.RevisionInspector;
import dev.activator.console.ActivatorLoadsCollector;
import dev.activator.lending.PermitLending;
import dev.activator.lending.link.PeerNetwork;
import dev.activator.lending.link.PeerTransport;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.NettyLoop;
import dev.activator.meters.ActivatorMeters;
import dev.activator.platform.PeerKeyLoader;
import dev.activator.platform.Platform;
import dev.activator.tls.SystemInternalTls;
import dev.activator.tls.PeerTls;
import java.util.random.RandomGenerator;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import reactor.netty.resources.LoopResources;

/**
 * Beans of permit lending and of the links to other activators, which are opened only if lending is
 * not off.
 */
@Configuration(proxyBeanMethods = false)
class LendingConfiguration {
  /**
   * Separate loops, because a handshake takes milliseconds, and the first one far longer, and no
   * request may wait for it.
   */
  @Bean(destroyMethod = "dispose")
  @Lazy
  LoopResources peerLoops() {
    return LoopResources.create("peers", 1, true);
  }

  @Bean(destroyMethod = "")
  @Lazy
  PeerTransport peerPort(@Qualifier("peerLoops") LoopResources loops, IdentityProperties identity,
      ProxyServerProperties serving, LendingProperties lending, ClusterWatcher cluster,
      SystemInternalTls internal,
      RandomGenerator random) {
    var tls = new PeerTls();
    return new PeerTransport(
        new NettyLoop(loops.onServer(LoopResources.DEFAULT_NATIVE).next()), tls,
        serving.bindAddress(), lending.port(),
        new PeerNetwork.Self(identity.podName(), identity.podIp(), random.nextLong()),
        new PeerKeyLoader(tls, internal, cluster.peerSecret(identity.systemNamespace())), random);
  }

  @Bean
  LifecyclePart peers(ObjectProvider<PeerTransport> port, LendingProperties lending,
      Platform platform,
      ClusterWatcher cluster, ActivatorMeters meters, RevisionInspector inspector,
      PermitLending lends,
      ActivatorLoadsCollector loads) {
    if (lending.mode() == Mode.OFF || !platform.hasPeers()) {
      return LifecyclePart.started("links to other activators (none)", () -> {
      });
    }
    var opened = port.getObject();
    cluster.onPublicAddresses(opened.network()::publicAddresses);
    if (lending.mode() == Mode.ON) {
      lends.start(opened.network().loop(), opened.network());
      opened.network().listen(lends);
      meters.lending(lends);
    }
    meters.peers(opened.network());
    inspector.peers(opened.network()::views);
    loads.peers(opened.network());
    return new LifecyclePart("links to other activators", opened::open, opened::close);
  }
}
