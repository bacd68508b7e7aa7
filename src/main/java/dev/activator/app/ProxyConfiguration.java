package dev.activator.app;

import dev.activator.app.properties.IdentityProperties;
import dev.activator.app.properties.ServingProperties;
import dev.activator.cluster.Cluster;
import dev.activator.config.LiveSettings;
import dev.activator.config.NetworkConfig;
import dev.activator.lifecycle.HealthState;
import dev.activator.loop.LoopGroup;
import dev.activator.observability.request.RequestObservers;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.buffer.HeldBytes;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.Router;
import dev.activator.revision.PrivateService;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.MemoryBound;
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
  HeldBytes heldBytes(ServingProperties serving) {
    return new HeldBytes(new MemoryBound(serving.heldLimit()));
  }

  @Bean
  Router router(Cluster cluster, HealthState health, Surroundings surroundings,
      IdentityProperties identity, LiveSettings<NetworkConfig> network) {
    return new Router(identity.clusterDomain(), surroundings.hosts(),
        revision -> network.get().passthrough()
            ? PrivateService.nameOf(revision.name()) + "." + revision.namespace()
            : null,
        cluster, health::readiness);
  }

  @Bean(destroyMethod = "close")
  ProxyServer proxyServer(LoopResources resources, LoopGroup loops, Router router,
      Throttler throttler, Upstreams upstreams, ConcurrencyReporter reporter,
      RequestObservers observers,
      HeldBytes held, Surroundings surroundings) {
    return new ProxyServer(resources.onServerSelect(LoopResources.DEFAULT_NATIVE),
        resources.onServer(LoopResources.DEFAULT_NATIVE), loops, HEAD_TIMEOUT,
        loop -> new RequestDispatcher(loop, router, throttler::admit, upstreams.of(loop),
            reporter.onLoop(loop), observers, held.share(),
            surroundings.areTheCallers()));
  }
}
