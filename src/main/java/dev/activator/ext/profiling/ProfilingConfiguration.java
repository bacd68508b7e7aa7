package dev.activator.ext.profiling;

import dev.activator.discovery.ClusterWatcher;
import dev.activator.config.ObservabilityConfig.Profiling;
import dev.activator.config.ParsedSettings;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.settings.ClusterProperties.ConfigMapProperties;
import dev.activator.settings.IdentityProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Profiles of this process over HTTP, while {@code config-observability} enables them. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ProfilingProperties.class)
public class ProfilingConfiguration {
  @Bean
  Extension profiling(ProfilingProperties properties, ClusterWatcher cluster,
      IdentityProperties identity, ConfigMapProperties names) {
    var server = new ProfilingServer(properties.bindAddress(), properties.port());
    return Extension.of("profiling", () -> {
      // Parsed separately, so that an error elsewhere in the map does not block this switch.
      cluster.onConfigMap(identity.systemNamespace(), names.observability(), data -> {
        if (Profiling.parse(data) instanceof ParsedSettings.Valid<Profiling>(var now)) {
          server.use(now);
        }
      });
    })
        // Always listens; answers 404 unless profiling is enabled.
        .with(StartOrder.FIRST,
            new LifecyclePart("profiling port", server::start, server::stop));
  }
}
