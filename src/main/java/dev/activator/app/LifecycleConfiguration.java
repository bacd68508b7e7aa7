package dev.activator.app;

import dev.activator.settings.ProxyServerProperties.ReadinessProperties;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.config.ConfigMapSettings;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
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

/** Defines the order in which the parts of the process start. They stop in reverse order. */
@Configuration(proxyBeanMethods = false)
class LifecycleConfiguration {
  private static final Logger log = LoggerFactory.getLogger(LifecycleConfiguration.class);

  /**
   * Excludes our own beans from spring.main.lazy-initialization. Beans of libraries are created at
   * the first request for metrics or health.
   */
  @Bean
  static LazyInitializationExcludeFilter ownBeansAtOnce() {
    return (_, _, type) -> type.getName().startsWith("dev.activator.");
  }

  /** Starts the informers. When it has started, the settings of the ConfigMaps are known. */
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

  /**
   * Marks the informers as synced. From here on the process waits only for the autoscaler, and for
   * a limited time.
   */
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

  /** Runs a wait that a signal may interrupt. */
  private static void await(LifecyclePart.Start wait, ObjectProvider<Shutdown> shutdown)
      throws Exception {
    var end = shutdown.getIfAvailable();
    if (end == null) {
      wait.run();
    } else {
      end.during(wait);
    }
  }

  /** Spring matches these parameters to beans by name. */
  @Bean
  LifecycleSequence startOrder(Platform platform, RequestPorts ports, LifecyclePart informers,
      LifecyclePart certificates, LifecyclePart metricsPort,
      LifecyclePart telemetry, AutoscalerLink link,
      ConcurrencyReporter reporter,
      LifecyclePart libraryMeters, RevisionBackendsManager backends, List<Extension> attached) {
    var extensions = Extensions.inOrder(attached);
    var parts = new ArrayList<LifecyclePart>();
    parts.addAll(parts(extensions, StartOrder.FIRST));
    parts.addAll(platform.beforePorts());
    parts.addAll(List.of(
        // Other probes wait, because thousands of them would compete with the rest of the start.
        LifecyclePart.started("awaited probes", backends::probeOnlyAwaited),
        // All following parts need the settings.
        informers,
        // The certificates are needed before any request is sent to a pod.
        certificates, metricsPort,
        // Telemetry must start before the first request.
        telemetry,
        // Readiness may need the link.
        new LifecyclePart("autoscaler link", link::open, link::close),
        new LifecyclePart("statistics", reporter::start, reporter::stop)));
    parts.addAll(parts(extensions, StartOrder.BEFORE_REQUESTS));
    parts.addAll(List.of(
        // Requests need all of the above.
        new LifecyclePart("request ports", ports::open, ports::drain),
        LifecyclePart.started("probes", backends::probeAll), libraryMeters));
    parts.addAll(parts(extensions, StartOrder.AFTER_REQUESTS));
    parts.addAll(platform.afterPorts(ports::http1));
    return new LifecycleSequence(parts);
  }

  private static List<LifecyclePart> parts(List<Extension> extensions, StartOrder when) {
    return extensions.stream().flatMap(extension -> extension.parts(when).stream()).toList();
  }

  /**
   * Lets Spring start the parts last and stop them first. So a failure of its web server is
   * reported before, and metrics can be read during the drain.
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
