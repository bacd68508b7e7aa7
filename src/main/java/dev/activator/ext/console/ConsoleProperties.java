package dev.activator.ext.console;

import dev.activator.config.SettingPreconditions;
import dev.activator.settings.ListeningPort;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings for the port of the console and the reports, and for who may read them.
 *
 * @param port the port; 0 for any free one. In a cluster 8015; in embedded mode the port of
 *     metrics. Both may share one port
 * @param bindAddress the interface to listen on, unless the port is that of metrics
 * @param auth who may read: with {@code none}, anyone who reaches the port; with {@code token},
 *     those who have a token of the cluster and may {@code get} the non-resource URL
 *     {@code /console}
 * @param links links to other tools
 */
@ConfigurationProperties("activator.console")
public record ConsoleProperties(@Nullable Integer port,
    @DefaultValue("127.0.0.1") String bindAddress, @DefaultValue("none") Auth auth,
    @NestedConfigurationProperty @DefaultValue ConsoleLinks links)
    implements ListeningPort.Source {

  public ConsoleProperties {
    SettingPreconditions.port("activator.console.port", port == null ? 0 : port);
    SettingPreconditions.bindAddress("activator.console.bind-address", bindAddress);
  }

  public enum Auth {
    NONE,
    TOKEN
  }

  /** @param metrics the port of metrics as it was set; 0 is not replaced by the actual port */
  public boolean shares(int metrics) {
    return port == null || (port != 0 && port == metrics);
  }

  /**
   * Whether the port can be reached only from the same pod or machine, or through port forwarding.
   */
  public boolean isLoopback() {
    return ListeningPort.isLoopback(bindAddress);
  }

  @Override
  public List<ListeningPort> ports(ListeningPort.Others others) {
    if (others.isEmbedded() && auth == Auth.TOKEN) {
      throw new IllegalArgumentException("activator.console.auth is token, but embedded mode has no"
          + " tokens: its ports are for this machine only");
    }
    return port == null || shares(others.metricsPort())
        ? List.of()
        : List.of(new ListeningPort("activator.console.port", bindAddress, port));
  }
}
