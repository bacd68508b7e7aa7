package dev.activator.app;

import dev.activator.settings.ClusterProperties.ConfigMapProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.config.ConfigMapSettings;
import dev.activator.config.LoggingConfig;
import dev.activator.config.NetworkConfig;
import dev.activator.config.ObservabilityConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Beans of the settings in ConfigMaps. */
@Configuration(proxyBeanMethods = false)
class ConfigMapSettingsConfiguration {
  private static final Logger log = LoggerFactory.getLogger(ConfigMapSettingsConfiguration.class);
  private static final String OURS = "dev.activator";

  @Bean
  ConfigMapSettings<NetworkConfig> networkSettings(ClusterWatcher cluster,
      IdentityProperties identity) {
    return follow(NetworkConfig.live(), cluster, identity);
  }

  @Bean
  ConfigMapSettings<ObservabilityConfig> observabilitySettings(ClusterWatcher cluster,
      IdentityProperties identity, ConfigMapProperties names) {
    return follow(ObservabilityConfig.live(names.observability()), cluster, identity);
  }

  @Bean
  ConfigMapSettings<LoggingConfig> loggingSettings(ClusterWatcher cluster,
      IdentityProperties identity,
      ConfigMapProperties names) {
    var settings = follow(LoggingConfig.live(names.logging()), cluster, identity);
    var logging = LoggingSystem.get(getClass().getClassLoader());
    settings.onChange((_, now) -> use(logging, now.level()));
    return settings;
  }

  private static <S extends ConfigMapSettings<?>> S follow(S settings, ClusterWatcher cluster,
      IdentityProperties identity) {
    cluster.onConfigMap(identity.systemNamespace(), settings.name(), settings::delivered);
    return settings;
  }

  /**
   * Sets the log level. Errors are always logged, because Zap's levels above ERROR only differ in
   * ending the process. Libraries never log below INFO.
   */
  private static void use(LoggingSystem logging, LoggingConfig.Level level) {
    var ours = switch (level) {
      case DEBUG -> LogLevel.DEBUG;
      case INFO -> LogLevel.INFO;
      case WARN -> LogLevel.WARN;
      case ERROR, DPANIC, PANIC, FATAL -> LogLevel.ERROR;
    };
    // Logged before the change, because the new level may be above INFO.
    log.info("Logging from {} on", ours);
    logging.setLogLevel(OURS, ours);
    logging.setLogLevel(LoggingSystem.ROOT_LOGGER_NAME,
        ours == LogLevel.DEBUG ? LogLevel.INFO : ours);
  }
}
