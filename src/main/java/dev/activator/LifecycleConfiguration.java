package dev.activator;

import dev.activator.cluster.Cluster;
import dev.activator.lifecycle.HealthState;
import dev.activator.lifecycle.Part;
import dev.activator.lifecycle.StartOrder;
import dev.activator.loop.LoopGroup;
import dev.activator.proxy.ProxyServer;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import java.util.ArrayList;
import java.util.List;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What starts after what. */
@Configuration(proxyBeanMethods = false)
class LifecycleConfiguration {
  @Bean
  HealthState healthState(ReadinessProperties readiness) {
    return new HealthState(readiness.autoscaler());
  }

  @Bean
  RequestPorts requestPorts(ProxyServer server, PortProperties ports, TlsProperties tls,
      ServingProperties serving, HealthState health, LoopGroup loops) {
    return new RequestPorts(server, ports, tls, serving, health, loops.loopFor("drain"));
  }

  @Bean
  StartOrder startOrder(Surroundings surroundings, Cluster cluster, Settings settings,
      HealthState health, AutoscalerLink link, ConcurrencyReporter reporter, RequestPorts ports,
      Telemetry telemetry) {
    var parts = new ArrayList<>(surroundings.below());
    parts.addAll(List.of(
        // Everything else follows what they tell.
        new Part("informers", () -> sync(cluster, settings, health), cluster::close),
        // Asks for what the ConfigMaps say, and hears of the first request.
        new Part("telemetry", telemetry::start, telemetry::stop),
        // Open before requests come, as readiness needs it.
        new Part("autoscaler link", link::open, link::close),
        new Part("statistics", reporter::start, reporter::stop),
        // Last: a request that gets in finds all of the above.
        new Part("request ports", ports::open, ports::drain)));
    parts.addAll(surroundings.above(ports::http1));
    return new StartOrder(parts);
  }

  private static void sync(Cluster cluster, Settings settings, HealthState health)
      throws InterruptedException {
    cluster.start();
    settings.begin();
    health.synced();
  }

  /** Has Spring start the parts before its own web server, and stop them after it. */
  @Bean
  SmartLifecycle activator(StartOrder parts) {
    return new SmartLifecycle() {
      private volatile boolean running;

      @Override
      public void start() {
        parts.start();
        running = true;
      }

      @Override
      public void stop() {
        parts.stop();
        running = false;
      }

      @Override
      public boolean isRunning() {
        return running;
      }

      @Override
      public int getPhase() {
        return 0;
      }
    };
  }
}
