package dev.activator.app;

import dev.activator.app.properties.IdentityProperties;
import dev.activator.app.properties.ServingProperties;
import dev.activator.app.properties.ServingProperties.PortProperties;
import dev.activator.app.properties.ServingProperties.ReadinessProperties;
import dev.activator.app.properties.TlsProperties;
import dev.activator.cluster.Cluster;
import dev.activator.config.LiveSettings;
import dev.activator.config.NetworkConfig;
import dev.activator.lifecycle.HealthState;
import dev.activator.loop.LoopGroup;
import dev.activator.observability.request.RequestMeters;
import dev.activator.observability.request.RequestObservers;
import dev.activator.proxy.Neighbours;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.ProxySettings;
import dev.activator.proxy.route.Addressing;
import dev.activator.revision.PrivateService;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.throttle.Throttler;
import dev.activator.upstream.Upstreams;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.netty.resources.LoopResources;

/** The request path, and what the autoscaler is told of it once a second. */
@Configuration(proxyBeanMethods = false)
class RequestConfiguration {
  private static final Duration HEAD_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration STATS_PERIOD = Duration.ofSeconds(1);
  private static final Addressing BY_POD = new Addressing.ByPod();
  private static final Addressing BY_SERVICE = new Addressing.ByService(
      revision -> PrivateService.nameOf(revision.name()) + "." + revision.namespace());

  @Bean
  HealthState healthState(ReadinessProperties readiness) {
    return new HealthState(readiness.autoscaler());
  }

  @Bean
  AutoscalerLink autoscalerLink(Surroundings surroundings, IdentityProperties identity,
      LoopGroup loops, HealthState health, StageMeters meters, RandomGenerator random) {
    var link = AutoscalerLink.to(surroundings::autoscaler, loops.loopFor("autoscaler"),
        identity.podName(), AutoscalerLink.Timings.DEFAULT, random);
    link.onChange(new AutoscalerLink.Listener() {
      @Override
      public void connected() {
        health.link(true);
      }

      @Override
      public void lost() {
        health.link(false);
      }
    });
    link.onChange(meters.link());
    return link;
  }

  @Bean
  ConcurrencyReporter concurrencyReporter(LoopGroup loops, AutoscalerLink link,
      RequestMeters meters) {
    return new ConcurrencyReporter(loops.loopFor("statistics"), STATS_PERIOD,
        StageMeters.stats(link, meters));
  }

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
        HEAD_TIMEOUT, serving.heldLimit(), surroundings.showsStartMessages());
  }

  @Bean(destroyMethod = "close")
  ProxyServer proxyServer(LoopResources resources, LoopGroup loops, ProxySettings settings,
      Neighbours neighbours) {
    return new ProxyServer(resources.onServerSelect(LoopResources.DEFAULT_NATIVE),
        resources.onServer(LoopResources.DEFAULT_NATIVE), loops, settings, neighbours);
  }

  @Bean
  RequestPorts requestPorts(ProxyServer server, PortProperties ports, TlsProperties tls,
      InternalTls system, ServingProperties serving, HealthState health, LoopGroup loops,
      ObjectProvider<Shutdown> shutdown) {
    server.onLost(what -> shutdown.ifAvailable(end -> end.failed(what)));
    return new RequestPorts(server, ports, tls, system, serving, health, loops.loopFor("drain"));
  }
}
