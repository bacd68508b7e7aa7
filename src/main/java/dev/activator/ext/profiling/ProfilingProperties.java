package dev.activator.ext.profiling;

import dev.activator.config.SettingPreconditions;
import dev.activator.settings.ListeningPort;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of the port for profiles. They are served while the ConfigMap
 * {@code config-observability} enables them.
 *
 * @param bindAddress the interface to listen on
 * @param port the port; 0 for any free one
 */
@ConfigurationProperties("activator.profiling")
public record ProfilingProperties(@DefaultValue("0.0.0.0") String bindAddress,
    @DefaultValue("8008") int port) implements ListeningPort.Source {

  public ProfilingProperties {
    SettingPreconditions.port("PROFILING_PORT", port);
    SettingPreconditions.bindAddress("activator.profiling.bind-address", bindAddress);
  }

  @Override
  public List<ListeningPort> ports(ListeningPort.Others others) {
    return List.of(new ListeningPort("activator.profiling.port", bindAddress, port));
  }
}
