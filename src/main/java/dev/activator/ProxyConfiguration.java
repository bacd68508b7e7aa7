package dev.activator;

import dev.activator.cluster.Cluster;
import dev.activator.lifecycle.HealthState;
import dev.activator.loop.LoopGroup;
import dev.activator.proxy.Addressing;
import dev.activator.proxy.Neighbours;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.ProxySettings;
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

  @Bean
  Neighbours neighbours(Cluster cluster, Throttler throttler, Upstreams upstreams,
      ConcurrencyReporter reporter, HealthState health) {
    return new Neighbours(cluster, throttler::admit, upstreams, reporter::onLoop,
        health::readiness);
  }

  @Bean(destroyMethod = "close")
  ProxyServer proxyServer(LoopResources resources, LoopGroup loops, Surroundings surroundings,
      IdentityProperties identity, ServingProperties serving, Neighbours neighbours) {
    var settings = new ProxySettings(identity.clusterDomain(), surroundings.hosts(),
        new Addressing.ByPod(), HEAD_TIMEOUT,
        serving.heldBytes(Runtime.getRuntime().maxMemory()));
    return new ProxyServer(resources.onServerSelect(LoopResources.DEFAULT_NATIVE),
        resources.onServer(LoopResources.DEFAULT_NATIVE), loops, settings, neighbours);
  }
}
