package dev.activator.app;

import dev.activator.app.properties.ServingProperties;
import dev.activator.app.properties.ServingProperties.PortProperties;
import dev.activator.app.properties.ServingProperties.ReadinessProperties;
import dev.activator.app.properties.TlsProperties;
import dev.activator.lifecycle.HealthState;
import dev.activator.lifecycle.Part;
import dev.activator.lifecycle.StartOrder;
import dev.activator.loop.LoopGroup;
import dev.activator.proxy.ProxyServer;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** What starts after what. */
@Configuration(proxyBeanMethods = false)
@Import({ClusterParts.class, ObservingParts.class, ReportingParts.class})
class LifecycleConfiguration {
  @Bean
  HealthState healthState(ReadinessProperties readiness) {
    return new HealthState(readiness.autoscaler());
  }

  @Bean
  RequestPorts requestPorts(ProxyServer server, PortProperties ports,
      TlsProperties tls, InternalTls system, ServingProperties serving, HealthState health,
      LoopGroup loops, ObjectProvider<Shutdown> ending) {
    server.onLost(what -> ending.ifAvailable(end -> end.failed(what)));
    return new RequestPorts(server, ports, tls, system, serving, health, loops.loopFor("drain"));
  }

  @Bean
  StartOrder startOrder(Surroundings surroundings, ClusterParts cluster, ObservingParts observing,
      ReportingParts reporting, RequestPorts ports) {
    var parts = new ArrayList<Part>();
    parts.add(Part.started("request ports", ports::check));
    parts.addAll(surroundings.below());
    parts.addAll(List.of(
        // Open all the time, though it seldom answers.
        observing.profilingPort(),
        // Everything else follows what they tell.
        cluster.informers(),
        // Before any pod is asked for anything but its health.
        cluster.certificates(), observing.metricsPort(),
        // Asks for what the ConfigMaps say, and hears of the first request.
        observing.telemetry(),
        // Open before requests come, as readiness needs it.
        reporting.link(), reporting.statistics(),
        // Last: a request that gets in finds all of the above.
        new Part("request ports", ports::open, ports::drain)));
    parts.addAll(surroundings.above(ports::http1));
    return new StartOrder(parts);
  }

  /**
   * Has Spring start the parts last and stop them first: what is wrong with its own web server is
   * known at once, and metrics can be fetched while requests drain.
   */
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
    };
  }
}
