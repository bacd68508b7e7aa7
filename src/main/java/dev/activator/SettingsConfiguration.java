package dev.activator;

import dev.activator.cluster.Cluster;
import dev.activator.config.LiveSettings;
import dev.activator.config.LoggingConfig;
import dev.activator.config.NetworkConfig;
import dev.activator.config.ObservabilityConfig;
import dev.activator.config.OtelVariables;
import dev.activator.config.TemplateSyntax;
import dev.activator.properties.ConfigMapProperties;
import dev.activator.properties.IdentityProperties;
import dev.activator.properties.OtelProperties;
import java.util.List;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What the ConfigMaps say, and who goes by it while it changes. */
@Configuration(proxyBeanMethods = false)
class SettingsConfiguration {
  @Bean
  LiveSettings<NetworkConfig> networkSettings() {
    return new LiveSettings<>(NetworkConfig.NAME, NetworkConfig.DEFAULT,
        data -> NetworkConfig.parse(data, TemplateSyntax::problem), NetworkConfig::needRestart);
  }

  @Bean
  LiveSettings<ObservabilityConfig> observabilitySettings(ConfigMapProperties names) {
    return new LiveSettings<>(names.observability(), ObservabilityConfig.DEFAULT,
        data -> ObservabilityConfig.parse(data, TemplateSyntax::problem),
        ObservabilityConfig::needRestart);
  }

  @Bean
  LiveSettings<LoggingConfig> loggingSettings(ConfigMapProperties names) {
    var settings = new LiveSettings<>(names.logging(), LoggingConfig.DEFAULT,
        LoggingConfig::parse, (_, _) -> List.of());
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
  Settings settings(Cluster cluster, IdentityProperties identity, ConfigMapProperties names,
      LiveSettings<NetworkConfig> network, LiveSettings<LoggingConfig> logging,
      LiveSettings<ObservabilityConfig> observability) {
    var namespace = identity.systemNamespace();
    cluster.onConfigMap(namespace, NetworkConfig.NAME, network::delivered);
    cluster.onConfigMap(namespace, names.logging(), logging::delivered);
    cluster.onConfigMap(namespace, names.observability(), observability::delivered);
    return new Settings(List.of(network, logging, observability));
  }
}
