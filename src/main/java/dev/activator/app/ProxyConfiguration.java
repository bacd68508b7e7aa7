package dev.activator.app;

import dev.activator.app.properties.IdentityProperties;
import dev.activator.app.properties.ServingProperties;
import dev.activator.cluster.Cluster;
import dev.activator.config.LiveSettings;
import dev.activator.config.NetworkConfig;
import dev.activator.lifecycle.HealthState;
import dev.activator.loop.LoopGroup;
import dev.activator.observability.request.RequestObservers;
import dev.activator.proxy.Neighbours;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.ProxySettings;
import dev.activator.proxy.route.Addressing;
import dev.activator.revision.PrivateService;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.throttle.Throttler;
import dev.activator.upstream.Upstreams;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.netty.resources.LoopResources;

/** The request path. */
@Configuration(proxyBeanMethods = false)
class ProxyConfiguration {
  private static final Duration HEAD_TIMEOUT = Duration.ofSeconds(60);
  private static final Addressing BY_POD = new Addressing.ByPod();
  private static final Addressing BY_SERVICE = new Addressing.ByService(
      revision -> PrivateService.nameOf(revision.name()) + "." + revision.namespace());

  @Bean
  Neighbours neighbours(Cluster cluster, Throttler throttler, Upstreams upstreams,
      ConcurrencyReporter reporter, RequestObservers observers, HealthState health) {
    return new Neighbours(cluster, throttler::admit, upstreams, reporter::onLoop,
        _ -> observers, health::readiness);
  }

  @Bean
  ProxySettings proxySettings(Surroundings surroundings, IdentityProperties identity,
      ServingProperties serving, LiveSettings<NetworkConfig> network) {
    return new ProxySettings(identity.clusterDomain(), surroundings.hosts(),
        new Addressing.Live(() -> network.get().passthrough() ? BY_SERVICE : BY_POD),
        HEAD_TIMEOUT, serving.heldLimit(), surroundings.areTheCallers());
  }

  @Bean(destroyMethod = "close")
  ProxyServer proxyServer(LoopResources resources, LoopGroup loops, ProxySettings settings,
      Neighbours neighbours) {
    return new ProxyServer(resources.onServerSelect(LoopResources.DEFAULT_NATIVE),
        resources.onServer(LoopResources.DEFAULT_NATIVE), loops, settings, neighbours);
  }
}
