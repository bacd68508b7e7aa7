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
    if (maxIdle < 0 || maxIdlePerHost < 0) {
      throw new IllegalArgumentException("MAX_IDLE_PROXY_CONNS is " + maxIdle
          + " and MAX_IDLE_PROXY_CONNS_PER_HOST is " + maxIdlePerHost
          + ", but none may be negative");
    }
  }
}
