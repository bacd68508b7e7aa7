package dev.activator;

import dev.activator.cluster.Cluster;
import dev.activator.config.LiveSettings;
import dev.activator.config.ObservabilityConfig;
import dev.activator.lifecycle.HealthState;
import dev.activator.lifecycle.Part;
import dev.activator.lifecycle.StartOrder;
import dev.activator.loop.LoopGroup;
import dev.activator.profiling.ProfilingServer;
import dev.activator.properties.PortProperties;
import dev.activator.properties.ReadinessProperties;
import dev.activator.properties.ServingProperties;
import dev.activator.proxy.ProxyServer;
import dev.activator.start.Ending;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
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
  RequestPorts requestPorts(ProxyServer server, PortProperties ports,
      CallerCertificate certificate, ServingProperties serving, HealthState health,
      LoopGroup loops, ObjectProvider<Ending> ending) {
    server.onLost(what -> ending.ifAvailable(end -> end.failed(what)));
    return new RequestPorts(server, ports, certificate, serving, health, loops.loopFor("drain"));
  }

  @Bean
  StartOrder startOrder(Surroundings surroundings, Cluster cluster, Settings settings,
      HealthState health, InternalTls tls, AutoscalerLink link, ConcurrencyReporter reporter,
      RequestPorts ports, ProfilingServer profiling, MetricsEndpoint endpoint,
      LiveSettings<ObservabilityConfig> observability,
      Telemetry telemetry, ObjectProvider<Ending> ending) {
    var parts = new ArrayList<Part>();
    parts.add(Part.started("request ports", ports::check));
    parts.addAll(surroundings.below());
    parts.addAll(List.of(
        // Open all the time, though it seldom answers.
        new Part("profiling port", profiling::start, profiling::stop),
        // Everything else follows what they tell.
        new Part("informers", () -> sync(cluster, settings, health, ending.getIfAvailable()),
            cluster::close),
        // Before any pod is asked for anything but its health.
        Part.started("certificates", () -> during(ending.getIfAvailable(), tls::start)),
        new Part("metrics port", () -> endpoint.open(observability.get().metrics()),
            endpoint::close),
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

  private static void sync(Cluster cluster, Settings settings, HealthState health,
      @Nullable Ending ending) throws Exception {
    during(ending, cluster::start);
    settings.begin();
    health.synced();
  }

  /** Waits for the cluster, until it is told to end. */
  private static void during(@Nullable Ending ending, Part.Start wait) throws Exception {
    if (ending == null) {
      wait.run();
    } else {
      ending.during(wait);
    }
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
