package dev.activator.app;

import dev.activator.settings.IdentityProperties;
import dev.activator.settings.LendingProperties;
import dev.activator.settings.LendingProperties.Mode;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.cluster.ClusterWatcher;
import dev.activator.console.RevisionInspector;
import dev.activator.console.ActivatorLoadsCollector;
import dev.activator.lending.PermitLending;
import dev.activator.lending.link.PeerNetwork;
import dev.activator.lending.link.PeerTransport;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.NettyLoop;
import dev.activator.meters.ActivatorMeters;
import dev.activator.platform.PeerKeyLoader;
import dev.activator.platform.Platform;
import dev.activator.tls.SystemInternalTls;
import dev.activator.tls.PeerTls;
import java.util.List;
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
  private static final String NAME = "lending";

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
  Extension lendingBetweenActivators(ObjectProvider<PeerTransport> port, LendingProperties lending,
      Platform platform, ClusterWatcher cluster, ActivatorMeters meters,
      RevisionInspector inspector, PermitLending lends, ActivatorLoadsCollector loads) {
    if (lending.mode() == Mode.OFF || !platform.hasPeers()) {
      return () -> NAME;
    }
    return new Extension() {
      private final PeerTransport opened = port.getObject();

      @Override
      public String name() {
        return NAME;
      }

      @Override
      public void attach() {
        cluster.publicAddresses().subscribe(NAME, opened.network()::publicAddresses);
        if (lending.mode() == Mode.ON) {
          lends.start(opened.network().loop(), opened.network());
          opened.network().listen(lends);
          meters.lending(lends);
        }
        meters.peers(opened.network());
        inspector.peers(opened.network()::views);
        loads.peers(opened.network());
      }

      @Override
      public List<LifecyclePart> parts(StartOrder when) {
        // Stopped after the last request, because borrowed permits are returned until then.
        return when == StartOrder.BEFORE_REQUESTS
            ? List.of(new LifecyclePart("links to other activators", opened::open, opened::close))
            : List.of();
      }
    };
  }
}
