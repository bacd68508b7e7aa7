package dev.activator.ext.otel;

import dev.activator.config.ConfigMapSettings;
import dev.activator.config.ObservabilityConfig;
import dev.activator.config.OtelEnvironment;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.observability.AsyncLineWriter;
import dev.activator.observability.Meters;
import dev.activator.observability.ProcessIdentity;
import dev.activator.observability.RequestObservers;
import dev.activator.settings.OtelProperties;
import dev.activator.settings.OutboundProxyProperties;
import dev.activator.lifecycle.Extension;
import java.time.Clock;
import java.util.List;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Attaches OpenTelemetry's traces, and its pushed metrics and log lines. */
@Configuration(proxyBeanMethods = false)
public class OtelConfiguration {
  @Bean
  Extension otel(RequestObservers observers, Meters meters, AsyncLineWriter out,
      ConfigMapSettings<ObservabilityConfig> settings, ProcessIdentity identity,
      OtelProperties variables, OtelEnvironment environment,
      OutboundProxyProperties outboundProxy) {
    var exporters = new TelemetryExporters(variables.variables(), environment,
        outboundProxy.proxies(), identity);
    var exports = new TelemetryExport(observers, meters, out, Clock.systemUTC());
    return new Extension() {
      @Override
      public String name() {
        return "otel";
      }

      @Override
      public List<LifecyclePart> parts(StartOrder when) {
        return when == StartOrder.BEFORE_REQUESTS
            ? List.of(new LifecyclePart("telemetry exports",
                () -> exports.start(settings.get(), exporters), exports::close))
            : List.of();
      }
    };
  }
}
