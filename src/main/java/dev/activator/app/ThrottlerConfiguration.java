package dev.activator.app;

import dev.activator.revision.LiveRevisions;
import dev.activator.settings.CallerTlsProperties;
import dev.activator.settings.ClusterProperties;
import dev.activator.settings.ClusterProperties.AddressProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.settings.UpstreamProperties;
import dev.activator.settings.UpstreamProperties.ProbeProperties;
import dev.activator.backend.ProbeSettings;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.config.ConfigMapSettings;
import dev.activator.config.NetworkConfig;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyTransport;
import dev.activator.meters.ActivatorMeters;
import dev.activator.platform.Platform;
import dev.activator.throttle.PermitSharing;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.ThrottlerOptions;
import dev.activator.throttle.policy.WaitLimits;
import dev.activator.tls.SystemInternalTls;
import dev.activator.tls.PodTls;
import dev.activator.upstream.HttpProbeClient;
import dev.activator.upstream.ConnectionPoolsByLoop;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import reactor.netty.resources.LoopResources;

/**
 * Beans of the throttler and of its sources: event loops, the cluster, TLS to pods, the watchers.
 */
@Configuration(proxyBeanMethods = false)
class ThrottlerConfiguration {
  private static final Logger log = LoggerFactory.getLogger(ThrottlerConfiguration.class);

  /**
   * The event loops. One accepts connections; one per core serves them and owns the revisions'
   * state.
   */
  @Bean(destroyMethod = "dispose")
  @Primary
  LoopResources loopResources() {
    return LoopResources.create("activator", 1, Runtime.getRuntime().availableProcessors(), true);
  }

  @Bean
  LoopGroup loops(LoopResources resources) {
    NettyTransport.whyNotNative().ifPresent(why -> log.info(
        "Connections use Java's own transport, which costs a little more: {}", why));
    return new LoopGroup(resources.onServer(LoopResources.DEFAULT_NATIVE));
  }

  @Bean
  RandomGenerator random() {
    return LoopGroup.random();
  }

  @Bean
  LiveRevisions liveRevisions(LoopGroup loops) {
    return new LiveRevisions(loops::loopFor);
  }

  @Bean(destroyMethod = "close")
  ClusterWatcher cluster(LiveRevisions live, Platform platform, ClusterProperties properties,
      AddressProperties addresses, IdentityProperties identity, RandomGenerator random) {
    var cluster = properties.cluster(live, platform::api, properties.apiTimeout(), random,
        addresses, identity);
    if (platform.hasApiElsewhere()) {
      cluster.connect();
    }
    return cluster;
  }

  @Bean
  PodTls podTls(LiveRevisions live) {
    return new PodTls(live);
  }

  @Bean
  SystemInternalTls internalTls(ClusterWatcher cluster, IdentityProperties identity, PodTls pods,
      CallerTlsProperties tls, ConfigMapSettings<NetworkConfig> network) {
    return new SystemInternalTls(cluster::followCertificates, identity.systemNamespace(),
        () -> network.get().systemInternalTls(), pods, tls.server());
  }

  @Bean(destroyMethod = "close")
  ConnectionPoolsByLoop upstreams(LoopGroup loops, UpstreamProperties properties,
      RandomGenerator random,
      PodTls tls, Platform platform) {
    var limits = new IdleLimits(properties.maxIdle(), properties.maxIdlePerHost(),
        platform.idleTimeout());
    return new ConnectionPoolsByLoop(loops, limits, random, tls);
  }

  @Bean(destroyMethod = "stop")
  RevisionBackendsManager backends(LiveRevisions live, LoopGroup loops,
      ConnectionPoolsByLoop upstreams,
      ActivatorMeters meters,
      ProbeProperties probes, ConfigMapSettings<NetworkConfig> network, RandomGenerator random) {
    var settings = new ProbeSettings(() -> addressing(network.get()), probes.timeoutDuration(),
        probes.frequencyDuration(), probes.repeatsPerSecond());
    return new RevisionBackendsManager(live, loops.loopFor("probes"),
        meters.probes(new HttpProbeClient(upstreams, settings.attemptsPerSecond())),
        settings, random);
  }

  static MeshAddressing addressing(NetworkConfig network) {
    return new MeshAddressing(network.mesh(), network.passthrough());
  }

  @Bean
  Throttler throttler(LiveRevisions live, IdentityProperties identity,
      ProxyServerProperties serving, RandomGenerator random,
      ObjectProvider<PermitSharing> sharing) {
    return new Throttler(live, identity.podIp(),
        ThrottlerOptions.of(serving.queueCapacity(),
            new WaitLimits(serving.queueTimeout(), serving.startTimeout())),
        random,
        sharing.getIfAvailable(() -> PermitSharing.NONE));
  }
}
