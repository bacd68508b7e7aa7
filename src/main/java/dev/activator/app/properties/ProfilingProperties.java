package dev.activator.app.properties;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Where profiles can be had, while the ConfigMap {@code config-observability} allows it.
 *
 * @param bindAddress the interface to listen on
 * @param port the one to listen on; {@code PROFILING_PORT}. 0 takes a free one, which the log names
 */
@ConfigurationProperties("activator.profiling")
public record ProfilingProperties(@DefaultValue("0.0.0.0") String bindAddress,
    @DefaultValue("8008") int port) {

  public ProfilingProperties {
    Ports.check("PROFILING_PORT", port);
  }
}
