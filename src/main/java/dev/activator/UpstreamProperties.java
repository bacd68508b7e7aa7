package dev.activator;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Connections to pods that are kept open.
 *
 * @param maxIdle in all; {@code MAX_IDLE_PROXY_CONNS}
 * @param maxIdlePerHost to one pod; {@code MAX_IDLE_PROXY_CONNS_PER_HOST}
 */
@ConfigurationProperties("activator.upstream")
record UpstreamProperties(@DefaultValue("1000") int maxIdle,
    @DefaultValue("100") int maxIdlePerHost) {

  UpstreamProperties {
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
