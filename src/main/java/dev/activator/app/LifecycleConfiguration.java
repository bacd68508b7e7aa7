package dev.activator.app;

import dev.activator.app.properties.ProxyServerProperties.ReadinessProperties;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.cluster.ClusterWatcher;
import dev.activator.config.ConfigMapSettings;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.lifecycle.Shutdown;
import dev.activator.lifecycle.LifecycleSequence;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.platform.Platform;
import dev.activator.proxy.RequestPorts;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.tls.SystemInternalTls;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The order in which parts of the process start; they stop in reverse. */
@Configuration(proxyBeanMethods = false)
class LifecycleConfiguration {
  private static final Logger log = LoggerFactory.getLogger(LifecycleConfiguration.class);

  /** With spring.main.lazy-initialization: beans of libraries wait until a request for metrics or health. */
  @Bean
  static LazyInitializationExcludeFilter ownBeansAtOnce() {
    return (_, _, type) -> type.getName().startsWith("dev.activator.");
  }

  /** Afterwards the settings of the ConfigMaps are known. */
  @Bean
  LifecyclePart informers(ClusterWatcher cluster, List<ConfigMapSettings<?>> settings,
      ActivatorHealth health,
      ReadinessProperties readiness, LoopGroup loops, ObjectProvider<Shutdown> shutdown) {
    return new LifecyclePart("informers", () -> {
      await(cluster::start, shutdown);
      settings.forEach(ConfigMapSettings::begin);
      synced(health, readiness, loops.loopFor("readiness"));
    }, cluster::close);
  }

  /** From here on the process waits only for the autoscaler, for a limited time. */
  static void synced(ActivatorHealth health, ReadinessProperties readiness, Loop loop) {
    health.synced();
    loop.schedule(readiness.autoscalerTimeout(), () -> {
      health.linkTimedOut();
      if (health.servesWithoutLink()) {
        log.warn(
            "The autoscaler is not connected {} s after the informers have synced: requests are"
                + " served without it, but until it is, it wakes no revisions at zero",
            readiness.autoscalerTimeout().toSeconds());
      }
    });
  }

  @Bean
  LifecyclePart certificates(SystemInternalTls tls, ObjectProvider<Shutdown> shutdown) {
    return LifecyclePart.started("certificates", () -> await(tls::start, shutdown));
  }

  /** Interrupted by a signal to end. */
  private static void await(LifecyclePart.Start wait, ObjectProvider<Shutdown> shutdown)
      throws Exception {
    var end = shutdown.getIfAvailable();
    if (end == null) {
      wait.run();
    } else {
      end.during(wait);
    }
  }

  /** Parameters are matched to beans by name. */
  @Bean
  LifecycleSequence startOrder(Platform platform, RequestPorts ports, LifecyclePart profilingPort,
      LifecyclePart informers, LifecyclePart certificates, LifecyclePart metricsPort,
      LifecyclePart telemetry, AutoscalerLink link,
      ConcurrencyReporter reporter, LifecyclePart rescue, LifecyclePart peers,
      LifecyclePart warmUpBegins, LifecyclePart warmUpEnds,
      LifecyclePart coldStartWarmUp, LifecyclePart admitPort, LifecyclePart consolePort,
      LifecyclePart consoleEnds, LifecyclePart states,
      RevisionBackendsManager backends) {
    var parts = new ArrayList<LifecyclePart>();
    // Also while the start waits for the cluster, and during a drain.
    parts.add(consolePort);
    parts.add(consoleEnds);
    // Reports a taken port before minutes are spent on the cluster.
    parts.add(LifecyclePart.started("request ports", ports::check));
    parts.addAll(platform.beforePorts());
    parts.addAll(List.of(
        // Always listens; answers 404 unless profiling is enabled.
        profilingPort,
        // Thousands of probes would compete with the rest of the start.
        LifecyclePart.started("probes held", backends::hold),
        // The informers wait for the API most of the time.
        warmUpBegins,
        // All that follow need the settings.
        informers,
        // Before any request is sent to a pod.
        certificates, metricsPort,
        // Before the first request.
        telemetry,
        // Readiness needs the link.
        new LifecyclePart("autoscaler link", link::open, link::close),
        new LifecyclePart("statistics", reporter::start, reporter::stop), rescue,
        // Until the last request has ended, what was borrowed is given back.
        peers, warmUpEnds,
        // Open before the kubelet sees this process as ready, and closed after the drain.
        admitPort,
        // A request needs all of the above.
        new LifecyclePart("request ports", ports::open, ports::drain),
        LifecyclePart.started("probes", backends::release), coldStartWarmUp, states));
    parts.addAll(platform.afterPorts(ports::http1));
    return new LifecycleSequence(parts);
  }

  /**
   * Spring starts the parts last and stops them first: a failure of its web server is known at
   * once, and metrics can be read during the drain.
   */
  @Bean
  SmartLifecycle activator(LifecycleSequence parts) {
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
