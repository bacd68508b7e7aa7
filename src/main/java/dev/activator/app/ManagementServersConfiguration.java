package dev.activator.app;

import dev.activator.management.LazyHandler;
import dev.activator.management.MetricsAndLivenessHandler;
import dev.activator.management.MetricsServer;
import dev.activator.management.OriginCheck;
import dev.activator.management.ManagementPages;
import dev.activator.settings.MetricsServerProperties;
import dev.activator.config.ConfigMapSettings;
import dev.activator.config.ObservabilityConfig;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.lifecycle.Readiness;
import dev.activator.observability.RequestMeters;
import dev.activator.proxy.RequestPorts;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.function.BooleanSupplier;
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
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;

/** Beans of the port for operators and scrapers. */
@Configuration(proxyBeanMethods = false)
class ManagementServersConfiguration {
  private static final Logger log = LoggerFactory.getLogger(ManagementServersConfiguration.class);

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

  /** The handler of the port of metrics. */
  @Bean
  HttpHandler httpHandler(LazyHandler pages, ObjectProvider<ManagementPages> more,
      RequestMeters requests, PrometheusMeterRegistry registry,
      ObjectProvider<OriginCheck> origins) {
    var handler = new MetricsAndLivenessHandler(requests::areScraped, registry::scrape,
        more.getIfAvailable(() -> ManagementPages.NONE).onMetricsPort(pages::handle));
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
}
