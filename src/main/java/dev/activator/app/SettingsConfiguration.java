package dev.activator.app;

import dev.activator.app.properties.ClusterProperties.ConfigMapProperties;
import dev.activator.app.properties.IdentityProperties;
import dev.activator.app.properties.OtelProperties;
import dev.activator.cluster.Cluster;
import dev.activator.config.LiveSettings;
import dev.activator.config.LoggingConfig;
import dev.activator.config.NetworkConfig;
import dev.activator.config.ObservabilityConfig;
import dev.activator.config.OtelVariables;
import java.util.List;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What the ConfigMaps say, and who goes by it while it changes. */
@Configuration(proxyBeanMethods = false)
class SettingsConfiguration {
  @Bean
  LiveSettings<NetworkConfig> networkSettings() {
    return NetworkConfig.live();
  }

  @Bean
  LiveSettings<ObservabilityConfig> observabilitySettings(ConfigMapProperties names) {
    return ObservabilityConfig.live(names.observability());
  }

  @Bean
  LiveSettings<LoggingConfig> loggingSettings(ConfigMapProperties names) {
    var settings = LoggingConfig.live(names.logging());
    var levels = new LogLevels(LoggingSystem.get(getClass().getClassLoader()));
    settings.onChange((_, now) -> levels.use(now.level()));
    return settings;
  }

  /** For those who export metrics and traces. */
  @Bean
  OtelVariables otelVariables(OtelProperties properties) {
    return properties.variables();
  }

  @Bean
  Settings settings(Cluster cluster, IdentityProperties identity,
      LiveSettings<NetworkConfig> network, LiveSettings<LoggingConfig> logging,
      LiveSettings<ObservabilityConfig> observability) {
    var namespace = identity.systemNamespace();
    List<LiveSettings<?>> all = List.of(network, logging, observability);
    all.forEach(one -> cluster.onConfigMap(namespace, one.name(), one::delivered));
    return new Settings(all);
  }
}
