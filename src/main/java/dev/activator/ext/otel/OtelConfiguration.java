package dev.activator.ext.otel;

import dev.activator.config.ParsedSettings;
import dev.activator.lifecycle.StartupFailedException;
import dev.activator.observability.TelemetryOverrides;
import dev.activator.config.ConfigMapSettings;
import dev.activator.config.ObservabilityConfig;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.observability.AsyncLineWriter;
import dev.activator.observability.Meters;
import dev.activator.observability.ProcessIdentity;
import dev.activator.observability.RequestObservers;
import dev.activator.settings.OutboundProxyProperties;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import java.time.Clock;
import java.util.HashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;

/** Attaches OpenTelemetry's traces, and its pushed metrics and log lines. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(OtelProperties.class)
public class OtelConfiguration {
  private static final Logger log = LoggerFactory.getLogger(OtelConfiguration.class);

  /**
   * Read when the bean is created, so that the environment of the build does not stay in the jar.
   */
  @Bean
  OtelEnvironment otelEnvironment(ConfigurableEnvironment environment) {
    var variables = new HashMap<String, String>();
    environment.getSystemEnvironment()
        .forEach((name, value) -> variables.put(name, String.valueOf(value)));
    return switch (OtelEnvironment.parse(variables)) {
      case ParsedSettings.Valid<OtelEnvironment>(var valid) -> valid;
      case ParsedSettings.Invalid<OtelEnvironment> invalid ->
        throw new StartupFailedException(invalid.line());
    };
  }

  @Bean
  TelemetryOverrides telemetryOverrides(OtelProperties otel, OtelEnvironment environment) {
    var without = environment.withoutEffect();
    if (!without.isEmpty()) {
      log.warn("These variables have no effect: {}", String.join(", ", without));
    }
    var attributes = environment.resourceAttributes();
    if (!otel.serviceName().equals(OtelOverrides.NONE.serviceName())) {
      attributes.remove("service.name");
    }
    return new TelemetryOverrides(otel.serviceName(), attributes, environment::metrics);
  }

  @Bean
  Extension otel(RequestObservers observers, Meters meters, AsyncLineWriter out,
      ConfigMapSettings<ObservabilityConfig> settings, ProcessIdentity identity,
      OtelProperties variables, OtelEnvironment environment,
      OutboundProxyProperties outboundProxy) {
    var exporters = new TelemetryExporters(variables.variables(), environment,
        outboundProxy.proxies(), identity);
    var exports = new TelemetryExport(observers, meters, out, Clock.systemUTC());
    return Extension.of("otel").with(StartOrder.BEFORE_REQUESTS,
        new LifecyclePart("telemetry exports", () -> exports.start(settings.get(), exporters),
            exports::close));
  }
}
