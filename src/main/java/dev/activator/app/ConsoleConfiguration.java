package dev.activator.app;

import dev.activator.backend.RevisionBackendsManager;
import dev.activator.cluster.Cluster;
import dev.activator.cluster.reflector.ReflectorView;
import dev.activator.console.ActivatorEndpoint;
import dev.activator.console.ApiState;
import dev.activator.console.Inspector;
import dev.activator.console.LivePage;
import dev.activator.loop.LoopGroup;
import dev.activator.observability.ColdStarts;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Flux;

/** What people can look at, on the port for management. */
@Configuration(proxyBeanMethods = false)
class ConsoleConfiguration {
  private static final Duration LOOK = Duration.ofSeconds(1);

  @Bean
  Inspector inspector(RevisionBackendsManager backends, Throttler throttler, AutoscalerLink link,
      Cluster cluster, LoopGroup loops) {
    return new Inspector(backends, throttler, link::view, () -> state(cluster), loops::loopFor);
  }

  @Bean
  ActivatorEndpoint activatorEndpoint(Inspector inspector, ColdStarts coldStarts) {
    return new ActivatorEndpoint(inspector, coldStarts::latest);
  }

  @Bean
  LivePage livePage(Inspector inspector, ColdStarts coldStarts,
      RevisionBackendsManager backends) {
    return new LivePage(inspector, coldStarts::latest, backends,
        Flux.interval(Duration.ZERO, LOOK));
  }

  @Bean
  RouterFunction<ServerResponse> liveRoutes(LivePage page) {
    return page.routes();
  }

  /** Before the web server waits for who still listens. */
  @Bean
  ApplicationListener<ContextClosedEvent> liveEnds(LivePage page) {
    return _ -> page.close();
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
