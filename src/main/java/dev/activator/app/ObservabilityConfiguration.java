package dev.activator.app;

import dev.activator.observability.TelemetryOverrides;
import dev.activator.observability.ProcessIdentity;
import com.sun.management.OperatingSystemMXBean;
import dev.activator.revision.LiveRevisions;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.config.ConfigMapSettings;
import dev.activator.config.ObservabilityConfig;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopDelay;
import dev.activator.loop.LoopGroup;
import dev.activator.meters.ProcessSaturation;
import dev.activator.meters.ActivatorMeters;
import dev.activator.meters.LibraryMeterNames;
import dev.activator.observability.AsyncLineWriter;
import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import dev.activator.observability.ColdStarts;
import dev.activator.observability.RequestMeters;
import dev.activator.observability.RequestObservers;
import dev.activator.platform.Platform;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import dev.activator.throttle.Throttler;
import dev.activator.upstream.ConnectionPoolsByLoop;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.netty4.NettyAllocatorMetrics;
import io.micrometer.core.instrument.binder.netty4.NettyEventExecutorMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.prometheus.metrics.model.snapshots.Labels;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.info.BuildProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import reactor.netty.resources.LoopResources;

/** Beans for metrics, and for lines on standard output. */
@Configuration(proxyBeanMethods = false)
class ObservabilityConfiguration {
  private static final Duration DELAY_PERIOD = Duration.ofSeconds(1);

  @Bean
  RequestObservers observers() {
    return new RequestObservers();
  }

  @Bean
  Meters meters() {
    return new Meters();
  }

  @Bean
  ActivatorMeters activatorMeters(Meters meters) {
    return new ActivatorMeters(meters);
  }

  @Bean
  RequestMeters requestMeters(Meters meters, LiveRevisions live) {
    return new RequestMeters(meters, live);
  }

  /** If the extension that records them is left out. */
  @Bean
  @Fallback
  ColdStarts noColdStarts() {
    return ColdStarts.NONE;
  }

  @Bean
  ProcessIdentity identity(IdentityProperties identity,
      ObjectProvider<TelemetryOverrides> overrides, ObjectProvider<BuildProperties> build) {
    var properties = build.getIfAvailable();
    var version = properties == null ? null : properties.getVersion();
    var set = overrides.getIfAvailable(() -> TelemetryOverrides.NONE);
    return new ProcessIdentity(set.service(), version == null ? "" : version,
        identity.systemNamespace(), identity.podName(), set.attributes());
  }

  @Bean(destroyMethod = "")
  AsyncLineWriter lines(Meters meters) {
    var out = new AsyncLineWriter(new FileOutputStream(FileDescriptor.out));
    meters.number(MetricDefinition.LINES_DROPPED, Labels.EMPTY, out::dropped);
    return out;
  }

  @Bean
  LifecyclePart telemetry(RequestMeters requests, RequestObservers observers,
      AsyncLineWriter lines, ConfigMapSettings<ObservabilityConfig> settings,
      ObjectProvider<TelemetryOverrides> overrides, List<LoopDelay> delays) {
    return new LifecyclePart("telemetry", () -> {
      var set = overrides.getIfAvailable(() -> TelemetryOverrides.NONE);
      requests.start(set.metrics().apply(settings.get().metrics()), observers);
      delays.forEach(LoopDelay::start);
    }, () -> {
      delays.forEach(LoopDelay::stop);
      lines.close();
    });
  }

  @Bean
  List<LoopDelay> loopDelays(LoopGroup loops) {
    Loop clock = loops.loopFor("clock");
    return loops.all().stream().map(loop -> new LoopDelay(loop, clock, DELAY_PERIOD)).toList();
  }

  @Bean
  ProcessSaturation saturation(HeldRequestBytes held, ProxyServerProperties serving,
      List<LoopDelay> delays) {
    var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    long limit = serving.heldLimit();
    return new ProcessSaturation(system::getProcessCpuLoad, () -> held.total() / (double) limit,
        delays);
  }

  /**
   * Registers the meters of the activator's parts. Their values are read when metrics are
   * collected.
   */
  @Bean
  SmartInitializingSingleton activatorIsMeasured(ActivatorMeters activatorMeters,
      List<LoopDelay> delays,
      Throttler throttler, HeldRequestBytes held, UnreadResponseBytes unread,
      ClusterWatcher cluster,
      ProxyServerProperties serving, LoopGroup loops, Platform platform,
      ConnectionPoolsByLoop upstreams,
      ProcessSaturation saturation) {
    return () -> {
      long limit = serving.heldLimit();
      activatorMeters.queues(throttler::views);
      activatorMeters.held(held::total, limit);
      activatorMeters.unread(unread, serving.unreadLimit());
      activatorMeters.connections(upstreams::openCount, upstreams::idleCount);
      activatorMeters.informers(cluster::informers);
      activatorMeters.reflectors(cluster::reflectors, loops.loopFor("clock"));
      activatorMeters.loops(delays);
      activatorMeters.saturation(saturation);
      activatorMeters.scaled(platform::scaled);
      platform.onWake(activatorMeters::woken);
      if (platform.leadership() != null) {
        activatorMeters.leadership(() -> Objects.requireNonNull(platform.leadership()));
      }
    };
  }

  @Bean
  SmartInitializingSingleton metersAreRegistered(Meters meters, ProcessIdentity identity,
      PrometheusMeterRegistry registry) {
    return () -> meters.register(registry.getPrometheusRegistry(), identity.labels());
  }

  @Bean
  MeterBinder nettyEventLoops(LoopResources resources) {
    return new NettyEventExecutorMetrics(resources.onServer(LoopResources.DEFAULT_NATIVE));
  }

  @Bean
  MeterFilter libraryMeterNames() {
    return new LibraryMeterNames();
  }

  @Bean
  MeterBinder timesInSeconds() {
    return LibraryMeterNames::bindTimes;
  }

  @Bean
  MeterBinder nettyAllocator() {
    return new NettyAllocatorMetrics(
        (ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT);
  }

  /**
   * Keeps Boot from creating the meters of libraries, which takes a twentieth of a start.
   * {@link #libraryMeters} creates them once requests are accepted. In the packaged jar their
   * definitions say so already.
   */
  @Bean
  static BeanDefinitionRegistryPostProcessor metersLater() {
    return registry -> {
      if (AotDetector.useGeneratedArtifacts()) {
        return;
      }
      var beans = (ListableBeanFactory) registry;
      for (var name : beans.getBeanNamesForType(MeterBinder.class, true, false)) {
        registry.getBeanDefinition(name).setAutowireCandidate(false);
      }
    };
  }

  @Bean
  LifecyclePart libraryMeters(PrometheusMeterRegistry registry, ListableBeanFactory beans) {
    return LifecyclePart.started("meters of libraries",
        () -> beans.getBeansOfType(MeterBinder.class).values()
            .forEach(each -> each.bindTo(registry)));
  }
}
