package dev.activator.ext.picker;

import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.lifecycle.Readiness;
import dev.activator.observability.Meters;
import dev.activator.proxy.ProxyServer;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.throttle.Throttler;
import java.util.List;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.netty.resources.LoopResources;

/** The endpoint picker. Disabled by default; the setting is {@code activator.picker.enabled}. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(PickerProperties.class)
public class PickerConfiguration {
  private static final String NAME = "picker";

  @Bean
  Extension picker(PickerProperties picker, ProxyServer proxy, LoopResources resources,
      ActivatorHealth health, Throttler throttler, ProxyServerProperties serving, Meters meters) {
    if (!picker.enabled()) {
      return () -> NAME;
    }
    var counts = new PickerCounts();
    // gRPC's classes are loaded only where the picker is enabled.
    var server = new PickerServer(proxy,
        new PickerServer.Settings(serving.bindAddress(), picker.port(), picker.fallbacks(),
            serving.drainTimeout()),
        resources, throttler, counts, () -> health.readiness() instanceof Readiness.Ready);
    return new Extension() {
      @Override
      public String name() {
        return NAME;
      }

      @Override
      public void attach() {
        counts.register(meters);
      }

      @Override
      public List<LifecyclePart> parts(StartOrder when) {
        return when == StartOrder.BEFORE_REQUESTS
            ? List.of(new LifecyclePart("port of the endpoint picker", server::start, server::stop))
            : List.of();
      }
    };
  }
}
