package dev.activator.app;

import com.sun.management.OperatingSystemMXBean;
import dev.activator.app.properties.EgressProperties;
import dev.activator.app.properties.IdentityProperties;
import dev.activator.app.properties.ServingProperties;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.cluster.Cluster;
import dev.activator.config.LiveSettings;
import dev.activator.config.ObservabilityConfig;
import dev.activator.config.OtelVariables;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopDelay;
import dev.activator.loop.LoopGroup;
import dev.activator.observability.ColdStarts;
import dev.activator.observability.Exporters.Identity;
import dev.activator.observability.Exporters;
import dev.activator.observability.Observability;
import dev.activator.observability.log.LineWriter;
import dev.activator.observability.meter.Meters;
import dev.activator.observability.meter.Metric;
import dev.activator.observability.request.RequestMeters;
import dev.activator.observability.request.RequestObservers;
import dev.activator.proxy.buffer.HeldBytes;
import dev.activator.throttle.Throttler;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.netty4.NettyAllocatorMetrics;
import io.micrometer.core.instrument.binder.netty4.NettyEventExecutorMetrics;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.prometheus.metrics.model.snapshots.Labels;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.time.Duration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.info.BuildProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.netty.resources.LoopResources;

/** What the activator says about itself. */
@Configuration(proxyBeanMethods = false)
class ObservabilityConfiguration {
  private static final Duration LOOK = Duration.ofSeconds(1);

  @Bean
  RequestObservers observers() {
    return new RequestObservers();
  }

  @Bean
  Meters meters() {
    return new Meters();
  }

  @Bean
  RequestMeters requestMeters(Meters meters, Cluster cluster) {
    var requests = new RequestMeters(meters, cluster);
    cluster.onRevisionGone(requests::gone);
    return requests;
  }

  @Bean
  ColdStarts coldStarts(LoopGroup loops, Meters meters, Cluster cluster,
      RevisionBackendsManager backends) {
    Loop clock = loops.loopFor("clock");
    var starts = new ColdStarts(clock::nanoTime, meters, Clock.systemUTC());
    cluster.onPods(starts::listed);
    cluster.onPodsGone(starts::podsGone);
    cluster.onRevisionGone(starts::gone);
    backends.onChange(starts::published);
    return starts;
  }

  @Bean
  Identity identity(IdentityProperties identity, OtelVariables otel,
      ObjectProvider<BuildProperties> build) {
    var properties = build.getIfAvailable();
    var version = properties == null ? null : properties.getVersion();
    return new Identity(otel.serviceName(), version == null ? "" : version,
        identity.systemNamespace(), identity.podName());
  }

  @Bean
  Exporters exporters(OtelVariables otel, EgressProperties egress, Identity identity) {
    return new Exporters(otel, egress.proxies(), identity);
  }

  @Bean
  Telemetry telemetry(RequestObservers observers, ColdStarts coldStarts, Meters meters,
      RequestMeters requests, LiveSettings<ObservabilityConfig> settings, Exporters exporters,
      LoopGroup loops) {
    observers.add(coldStarts);
    var out = new LineWriter(new FileOutputStream(FileDescriptor.out));
    meters.number(Metric.LINES_DROPPED, Labels.EMPTY, out::dropped);
    var observability = new Observability(observers, meters, requests, out, Clock.systemUTC());
    Loop clock = loops.loopFor("clock");
    var delays = loops.all().stream().map(loop -> new LoopDelay(loop, clock, LOOK)).toList();
    return new Telemetry(observability, settings, exporters, delays);
  }

  @Bean
  StageMeters stageMeters(Meters meters, Telemetry telemetry, Throttler throttler,
      HeldBytes held, Cluster cluster, ServingProperties serving, LoopGroup loops) {
    long limit = serving.heldLimit();
    var stages = new StageMeters(meters);
    stages.queues(throttler::views);
    stages.held(held::total, limit);
    stages.informers(cluster::informers);
    stages.reflectors(cluster::reflectors, loops.loopFor("clock"));
    stages.loops(telemetry.loops());
    var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    stages.saturation(new Saturation(system::getProcessCpuLoad,
        () -> held.total() / (double) limit, telemetry.loops()));
    return stages;
  }

  @Bean
  MeterBinder nettyEventLoops(LoopResources resources) {
    return new NettyEventExecutorMetrics(resources.onServer(LoopResources.DEFAULT_NATIVE));
  }

  @Bean
  MeterBinder nettyAllocator() {
    return new NettyAllocatorMetrics(
        (ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT);
  }

  @Bean
  RouterFunction<ServerResponse> metricsPage(Telemetry telemetry, Meters meters,
      Identity identity, PrometheusMeterRegistry registry) {
    meters.register(registry.getPrometheusRegistry(), identity.labels());
    var page = new MetricsPage(telemetry.observability(), registry);
    return RouterFunctions.route().GET("/metrics", page::show).build();
  }
}
