package dev.activator;

import dev.activator.backend.RevisionBackendsManager;
import dev.activator.cluster.Cluster;
import dev.activator.cluster.reflector.ReflectorView;
import dev.activator.console.ActivatorEndpoint;
import dev.activator.console.ApiState;
import dev.activator.console.Inspector;
import dev.activator.console.Stages;
import dev.activator.loop.LoopGroup;
import dev.activator.observability.ColdStarts;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.Throttler;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What people can look at, on the port for management. */
@Configuration(proxyBeanMethods = false)
class ConsoleConfiguration {
  @Bean
  ActivatorEndpoint activatorEndpoint(RevisionBackendsManager backends, Throttler throttler,
      AutoscalerLink link, Cluster cluster, LoopGroup loops, ColdStarts coldStarts) {
    return new ActivatorEndpoint(new Inspector(
        new Stages(backends, throttler, link::view, () -> state(cluster), loops::loopFor)),
        coldStarts::latest);
  }

  private static ApiState state(Cluster cluster) {
    return new ApiState(cluster.synced(),
        cluster.reflectors().stream().map(ConsoleConfiguration::watched).toList());
  }

  private static ApiState.Watched watched(ReflectorView view) {
    var health = view.health();
    return new ApiState.Watched(view.resource(), health.watching(), health.alarmed(),
        health.complaint());
  }
}
