package dev.activator.app.properties;

import dev.activator.config.SettingPreconditions;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Where the console and the reports are served, and who may read them.
 *
 * @param port the port; 0 for any free one. In a cluster 8015; in embedded mode that of metrics. If it is the
 *     one of metrics, they share it
 * @param bindAddress the interface to listen on, unless the port is that of metrics
 * @param auth {@code none}: anyone who reaches the port; {@code token}: those who have a token of the cluster
 *     and may {@code get} the non-resource URL {@code /console}
 */
@ConfigurationProperties("activator.console")
public record ConsoleProperties(@Nullable Integer port,
    @DefaultValue("127.0.0.1") String bindAddress, @DefaultValue("none") Auth auth) {

  public ConsoleProperties {
    SettingPreconditions.port("activator.console.port", port == null ? 0 : port);
    SettingPreconditions.bindAddress("activator.console.bind-address", bindAddress);
  }

  public enum Auth {
    NONE,
    TOKEN
  }

  /** @param metrics as it was set, not the one that a 0 became */
  public boolean shares(int metrics) {
    return port == null || (port != 0 && port == metrics);
  }

  /** Whether only programs of the same pod or machine, and what is forwarded by them, reach it. */
  public boolean isLoopback() {
    return isLoopback(bindAddress);
  }

  public static boolean isLoopback(String address) {
    try {
      return address.equalsIgnoreCase("localhost")
          || InetAddress.ofLiteral(address).isLoopbackAddress();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
