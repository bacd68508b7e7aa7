package dev.activator.ext.lending;

import java.util.Locale;
import io.prometheus.metrics.model.snapshots.Labels;
import dev.activator.observability.MetricDefinition;
import dev.activator.ext.lending.link.PeerSecret;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.ext.lending.LendingProperties.Mode;
import dev.activator.ext.lending.link.PeerSecret.PeerKeyLoader;
import dev.activator.ext.lending.link.PeerNetwork;
import dev.activator.ext.lending.link.PeerTransport;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.NettyLoop;
import dev.activator.observability.Meters;
import dev.activator.platform.Platform;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.throttle.Throttler;
import dev.activator.ext.lending.link.PeerTls;
import dev.activator.tls.SystemInternalTls;
import java.util.random.RandomGenerator;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import reactor.netty.resources.LoopResources;

/**
 * Permits that activators lend each other, and the links between them, which are opened only if
 * lending is not off.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(LendingProperties.class)
public class LendingConfiguration {
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
      SystemInternalTls internal, RandomGenerator random) {
    var tls = new PeerTls();
    return new PeerTransport(
        new NettyLoop(loops.onServer(LoopResources.DEFAULT_NATIVE).next()), tls,
        serving.bindAddress(), lending.port(),
        new PeerNetwork.Self(identity.podName(), identity.podIp(), random.nextLong()),
        new PeerKeyLoader(tls, internal, new PeerSecret(cluster::api, identity.systemNamespace())),
        random);
  }

  @Bean
  PermitLending permitLending(IdentityProperties identity) {
    return new PermitLending(identity.podIp());
  }

  @Bean
  PeerSnapshot.Source peers(ObjectProvider<PeerTransport> port, LendingProperties lending,
      Platform platform) {
    return isOff(lending, platform) ? PeerSnapshot.Source.NONE : port.getObject().network();
  }

  @Bean
  Extension lendingBetweenActivators(ObjectProvider<PeerTransport> port, LendingProperties lending,
      Platform platform, ClusterWatcher cluster, Meters meters, PermitLending lends,
      Throttler throttler) {
    if (isOff(lending, platform)) {
      return Extension.of(NAME);
    }
    var opened = port.getObject();
    return Extension.of(NAME, () -> {
      var network = opened.network();
      cluster.publicAddresses().subscribe(NAME, network::publicAddresses);
      network.answerLoads(() -> PeerSnapshot.Load.of(throttler.views()));
      addPeers(meters, network);
      if (lending.mode() == Mode.ON) {
        lends.start(network.loop(), network);
        network.listen(lends);
        addLending(meters, lends);
      }
    })
        // Stopped after the last request, because borrowed permits are returned until then.
        .with(StartOrder.BEFORE_REQUESTS,
            new LifecyclePart("links to other activators", opened::open, opened::close));
  }

  private static boolean isOff(LendingProperties lending, Platform platform) {
    return lending.mode() == Mode.OFF || !platform.hasPeers();
  }

  static void addPeers(Meters meters, PeerNetwork network) {
    for (var state : PeerSnapshot.State.values()) {
      meters.number(MetricDefinition.PEERS,
          Labels.of("state", state.name().toLowerCase(Locale.ROOT)),
          () -> network.views().stream().filter(view -> view.state() == state).count());
    }
    meters.number(MetricDefinition.PEER_FRAMES, Labels.of("direction", "sent"), network::sent);
    meters.number(MetricDefinition.PEER_FRAMES, Labels.of("direction", "received"),
        network::received);
    network.onRoundTrip(
        time -> meters.measured(MetricDefinition.PEER_ROUND_TRIP, Labels.EMPTY, time));
  }

  static void addLending(Meters meters, PermitLending lending) {
    var counts = lending.counts();
    meters.number(MetricDefinition.PERMITS_LENT, Labels.EMPTY, lending::lent);
    meters.number(MetricDefinition.PERMITS_BORROWED, Labels.EMPTY, lending::borrowed);
    meters.number(MetricDefinition.PERMITS_GRANTED, Labels.of("direction", "lent"),
        counts.lent()::sum);
    meters.number(MetricDefinition.PERMITS_GRANTED, Labels.of("direction", "borrowed"),
        counts.borrowed()::sum);
    meters.number(MetricDefinition.PERMITS_RECALLED, Labels.of("direction", "sent"),
        counts.recallsSent()::sum);
    meters.number(MetricDefinition.PERMITS_RECALLED, Labels.of("direction", "received"),
        counts.recallsReceived()::sum);
    meters.number(MetricDefinition.PERMITS_SAVED, Labels.EMPTY, counts.savedSeconds()::sum);
  }
}
