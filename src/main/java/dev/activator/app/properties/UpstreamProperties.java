package dev.activator.app.properties;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Connections to pods that are kept open.
 *
 * @param maxIdle idle connections that are kept, to all pods; {@code MAX_IDLE_PROXY_CONNS}
 * @param maxIdlePerHost idle connections that are kept, to one pod; {@code MAX_IDLE_PROXY_CONNS_PER_HOST}
 */
@ConfigurationProperties("activator.upstream")
public record UpstreamProperties(@DefaultValue("1000") int maxIdle,
    @DefaultValue("100") int maxIdlePerHost) {

  public UpstreamProperties {
    require("MAX_IDLE_PROXY_CONNS", maxIdle);
    require("MAX_IDLE_PROXY_CONNS_PER_HOST", maxIdlePerHost);
  }

  private static void require(String variable, int value) {
    if (value < 0) {
      throw new IllegalArgumentException(
          variable + " is '" + value + "', but must be a whole number, 0 or more");
    }
  }
}
