package dev.activator.app;

import dev.activator.app.properties.MetricsServerProperties;
import dev.activator.lifecycle.HealthState;
import dev.activator.lifecycle.Readiness;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.http.server.reactive.HttpHandler;

/** The port that metrics are fetched at, and what it says of health. */
@Configuration(proxyBeanMethods = false)
public class MetricsServerConfiguration {
  private static final Logger log = LoggerFactory.getLogger(MetricsServerConfiguration.class);

  /** Listens where Knative's variables have it. */
  @Bean
  @Order(Ordered.LOWEST_PRECEDENCE)
  WebServerFactoryCustomizer<NettyReactiveWebServerFactory> metricsServer(
      MetricsServerProperties properties, Environment environment) {
    return factory -> {
      if (!properties.host().isBlank() && !environment.containsProperty("server.address")) {
        factory.setAddress(address(properties.host()));
      }
      encrypt(factory, properties);
    };
  }

  private static void encrypt(NettyReactiveWebServerFactory factory,
      MetricsServerProperties properties) {
    if (properties.isEncrypted()) {
      factory.addServerCustomizers(new MetricsTls(properties));
    }
  }

  private static InetAddress address(String host) {
    try {
      return InetAddress.getByName(host);
    } catch (UnknownHostException unknown) {
      throw new IllegalArgumentException(
          "METRICS_PROMETHEUS_HOST is '" + host + "', but there is no such host", unknown);
    }
  }

  @Bean
  MetricsEndpoint metricsEndpoint(HttpHandler handler, Environment environment,
      MetricsServerProperties properties) {
    return new MetricsEndpoint(handler, environment, factory -> encrypt(factory, properties));
  }

  /** Names the port, which may be any that is free. */
  @Bean
  ApplicationListener<WebServerInitializedEvent> metricsServerListens() {
    return event -> log.info("Metrics and health are on port {}", event.getWebServer().getPort());
  }

  /** Says there what the kubelet is told on the ports for requests. */
  @Bean
  HealthIndicator activatorReadinessHealthIndicator(HealthState health) {
    return () -> switch (health.readiness()) {
      case Readiness.Ready() -> Health.up().build();
      case Readiness.NotReady(var message) ->
        Health.outOfService().withDetail("reason", message).build();
    };
  }
}
