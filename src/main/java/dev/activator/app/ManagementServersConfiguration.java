package dev.activator.app;

import java.util.Locale;
import dev.activator.revision.LiveRevisions;
import dev.activator.settings.ConsoleLinksProperties;
import dev.activator.settings.ConsoleProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.MetricsServerProperties;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.cluster.ClusterWatcher;
import dev.activator.config.ConfigMapSettings;
import dev.activator.config.ObservabilityConfig;
import dev.activator.console.ActivatorActuatorEndpoint;
import dev.activator.console.Alerts;
import dev.activator.console.ClusterRevisionDetails;
import dev.activator.console.RevisionHourHistory;
import dev.activator.console.RevisionInspector;
import dev.activator.console.LiveConsole;
import dev.activator.console.WaitingOverview.ApiState;
import dev.activator.console.WaitingOverview.LeaderReport;
import dev.activator.console.MinuteHistory;
import dev.activator.console.RevisionCardData;
import dev.activator.console.KnativeAutoscalerDefaults;
import dev.activator.console.ScalingExplanationBuilder;
import dev.activator.console.WaitReasonCache;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.lifecycle.Readiness;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.observability.ColdStartRecorder;
import dev.activator.observability.LastFailedRequests;
import dev.activator.observability.TelemetryLifecycle;
import dev.activator.observability.RecentRequestDurations;
import dev.activator.observability.RequestMeters;
import dev.activator.observability.RequestObservers;
import dev.activator.platform.Platform;
import dev.activator.proxy.RequestPorts;
import dev.activator.revision.RevisionId;
import dev.activator.revision.WakingExplanations;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.throttle.Throttler;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.AnnotationConfigUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ApplicationEventMulticaster;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.core.publisher.Flux;

/**
 * Beans for operators and scrapers: metrics and health on one port, the console on another.
 */
@Configuration(proxyBeanMethods = false)
class ManagementServersConfiguration {
  private static final Logger log = LoggerFactory.getLogger(ManagementServersConfiguration.class);
  private static final Duration REFRESH = Duration.ofSeconds(1);

  /**
   * Removes Spring's listener for versioned resource URLs, which would create all handlers at the
   * end of a start.
   */
  @Bean
  static SmartInitializingSingleton withoutResourceUrls(ApplicationEventMulticaster events) {
    return () -> events.removeApplicationListenerBean("resourceUrlProvider");
  }

  @Bean
  MetricsServer metricsServer(MetricsServerProperties properties, Environment environment) {
    return new MetricsServer(properties, environment);
  }

  @Bean
  @Order(Ordered.LOWEST_PRECEDENCE)
  WebServerFactoryCustomizer<NettyReactiveWebServerFactory> metricsServerSettings(
      MetricsServer server) {
    return server::customize;
  }

  @Bean
  ApplicationListener<WebServerInitializedEvent> metricsServerListens() {
    return event -> log.info("Metrics and health are on port {}", event.getWebServer().getPort());
  }

  /** Opens the second address, if the ConfigMap has one. */
  @Bean
  LifecyclePart metricsPort(MetricsServer server, ObjectProvider<HttpHandler> handler,
      ConfigMapSettings<ObservabilityConfig> settings) {
    HttpHandler lazily = (request, response) -> handler.getObject().handle(request, response);
    return new LifecyclePart("metrics port", () -> server.open(settings.get().metrics(), lazily),
        server::close);
  }

  @Bean
  HealthIndicator activatorReadinessHealthIndicator(ActivatorHealth health, RequestPorts ports) {
    return readiness(health, ports::isOpen);
  }

  /**
   * @param takesRequests whether the port for requests is open, because the port of health opens
   *     earlier
   */
  static HealthIndicator readiness(ActivatorHealth health, BooleanSupplier takesRequests) {
    return () -> switch (health.readiness()) {
      case Readiness.Ready() when takesRequests.getAsBoolean() -> Health.up().build();
      case Readiness.Ready() -> notReady("the ports for requests are not open yet");
      case Readiness.NotReady(var message) -> notReady(message);
    };
  }

  private static Health notReady(String reason) {
    return Health.outOfService().withDetail("reason", reason).build();
  }

  /** The pages that WebFlux serves. WebFlux is loaded when the first one is requested. */
  @Bean
  LazyHandler pages(ApplicationContext context) {
    return new LazyHandler(() -> WebHttpHandlerBuilder.applicationContext(context).build());
  }

  @Bean
  ConsoleServer consoleServer(ConsoleProperties properties, MetricsServer metrics,
      Environment environment, ClusterWatcher cluster, LoopGroup loops) {
    return new ConsoleServer(properties, metrics, environment,
        () -> cluster.tokenAuthorizer(ConsoleTokenFilter.URL, loops.loopFor("clock")::nanoTime));
  }

  @Bean
  LifecyclePart consolePort(ConsoleServer server, LazyHandler pages) {
    return new LifecyclePart("console port", () -> server.open(pages::handle), server::close);
  }

  /** The handler of the port of metrics. */
  @Bean
  HttpHandler httpHandler(LazyHandler pages, ConsoleServer console,
      TelemetryLifecycle telemetryLifecycle,
      PrometheusMeterRegistry registry, ObjectProvider<OriginCheck> origins) {
    var handler = new MetricsAndLivenessHandler(telemetryLifecycle::isScraped, registry::scrape,
        console.onMetricsPort(pages::handle));
    var guard = origins.getIfAvailable();
    return guard == null ? handler : guard.around(handler);
  }

  /**
   * Removes Spring's processor of event listener methods. There are no such methods, and it would
   * search for them in each bean.
   */
  @Bean
  static BeanDefinitionRegistryPostProcessor withoutEventListenerMethods() {
    return registry -> {
      var name = AnnotationConfigUtils.EVENT_LISTENER_PROCESSOR_BEAN_NAME;
      if (registry.containsBeanDefinition(name)) {
        registry.removeBeanDefinition(name);
      }
    };
  }

  /** Not a bean, because Spring would inspect it and load the types of its methods. */
  private static ScalingExplanationBuilder scaling(Platform platform) {
    return new ScalingExplanationBuilder(platform::scaling, platform::leadership);
  }

  @Bean
  RevisionInspector inspector(RevisionBackendsManager backends, Throttler throttler,
      AutoscalerLink link,
      ClusterWatcher cluster, LoopGroup loops, Platform platform,
      ObjectProvider<WakingExplanations> waking, ColdStartRecorder coldStarts,
      ObjectProvider<PeerSnapshot.Source> peers) {
    var reports = scaling(platform);
    var inspector = new RevisionInspector(backends, throttler, link::view,
        () -> ApiState.of(cluster),
        loops::loopFor,
        cluster::revisionsOf, id -> cluster.scaledService(id) != null, platform::processes,
        id -> reports.report(id, cluster.scaledService(id)), () -> {
          var leader = platform.leadership();
          return leader == null ? null : LeaderReport.of(leader);
        }, waking.getIfAvailable(() -> WakingExplanations.NONE), cluster::named);
    inspector.starts(coldStarts::view);
    peers.ifAvailable(others -> inspector.peers(others::views));
    return inspector;
  }

  @Bean
  WaitReasonCache waitReasons(LiveRevisions live, RevisionInspector inspector,
      Throttler throttler, LoopGroup loops) {
    return new WaitReasonCache(live, inspector, throttler, loops.loopFor("clock"));
  }

  @Bean
  ActivatorActuatorEndpoint activatorEndpoint(RevisionInspector inspector,
      ColdStartRecorder coldStarts) {
    return new ActivatorActuatorEndpoint(inspector, coldStarts::latest);
  }

  @Bean
  RecentRequestDurations recentDurations(LoopGroup loops, LiveRevisions live) {
    return new RecentRequestDurations(loops.loopFor("clock")::nanoTime, live);
  }

  @Bean
  MinuteHistory requestHistory(LiveRevisions live, LoopGroup loops, Throttler throttler,
      RequestMeters meters,
      ObjectProvider<TelemetryLifecycle> telemetryLifecycle, RecentRequestDurations recent,
      RequestObservers observers) {
    Loop clock = loops.loopFor("clock");
    return new MinuteHistory(live, clock::nanoTime, id -> {
      var view = throttler.view(id);
      return view == null ? 0 : view.queued();
    }, new MinuteHistory.Durations() {
      @Override
      public void start() {
        telemetryLifecycle.getObject().startCounting();
        observers.add(recent);
      }

      @Override
      public void stop() {
        observers.remove(recent);
        recent.clear();
        telemetryLifecycle.getObject().stopCounting();
      }

      @Override
      public long @Nullable [] of(RevisionId id) {
        return meters.durations(id);
      }

      @Override
      public long @Nullable [] recent(RevisionId id) {
        return recent.of(id);
      }
    });
  }

  @Bean
  LastFailedRequests lastFailures(LoopGroup loops, LiveRevisions live) {
    return new LastFailedRequests(loops.loopFor("clock")::nanoTime, live);
  }

  @Bean
  RevisionCardData.Source revisionCards(Platform platform, ClusterWatcher cluster,
      IdentityProperties identity, ProxyServerProperties serving, MinuteHistory requestHistory,
      RevisionHourHistory hours, LastFailedRequests failures, LoopGroup loops,
      ObjectProvider<WakingExplanations> waking) {
    var clock = loops.loopFor("clock");
    var own = platform.scalingDefaults();
    var details = new ClusterRevisionDetails(cluster, identity.clusterDomain(),
        serving.queueCapacity(),
        serving.waitingPage().toString().toLowerCase(Locale.ROOT),
        cluster.eventReader(clock::nanoTime), scaling(platform),
        own == null
            ? KnativeAutoscalerDefaults.following(cluster, identity.systemNamespace())
            : () -> own,
        waking.getIfAvailable(() -> WakingExplanations.NONE));
    return new RevisionCardData.Source(platform.details(details), requestHistory, hours, failures,
        clock::nanoTime);
  }

  @Bean
  LiveConsole liveConsole(RevisionInspector inspector, RevisionCardData.Source cards,
      ColdStartRecorder coldStarts,
      ActivatorHealth health, Platform platform, ObjectProvider<PeerSnapshot.Source> peers,
      Alerts alerts,
      ConsoleLinksProperties links) {
    return new LiveConsole(inspector, cards, coldStarts::latest, () -> switch (health.readiness()) {
      case Readiness.Ready() -> "";
      case Readiness.NotReady _ when health.isDraining() ->
        "This activator drains: it finishes its requests and ends.";
      case Readiness.NotReady(var why) when why.equals(ActivatorHealth.NO_LINK) ->
        "This activator is not ready: it has not been connected yet to what scales.";
      case Readiness.NotReady(var why) -> "This activator is not ready: " + why + ".";
    }, peers.getIfAvailable(() -> PeerSnapshot.Source.NONE), alerts, links.links(),
        platform.actions(), Flux.interval(Duration.ZERO, REFRESH));
  }

  @Bean
  RouterFunction<ServerResponse> consoleRoutes(LiveConsole console) {
    return console.routes();
  }

  /**
   * Closes the console's streams after all other parts have stopped, but before the web server
   * waits for its open connections.
   */
  @Bean
  LifecyclePart consoleEnds(LiveConsole console) {
    return LifecyclePart.stopped("console", console::close);
  }
}
