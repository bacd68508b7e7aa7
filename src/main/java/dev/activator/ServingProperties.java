package dev.activator;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How requests are taken.
 *
 * @param bindAddress the interface to listen on
 * @param queueCapacity requests that may wait for one revision; the next is refused with 503
 * @param propagationDelay between saying "not ready" and taking no more connections at the end, for
 *     load balancers to notice
 * @param drainTimeout how long requests that run then may take to end
 */
@ConfigurationProperties("activator.serving")
record ServingProperties(@DefaultValue("0.0.0.0") String bindAddress,
    @DefaultValue("10000") int queueCapacity, @DefaultValue("45s") Duration propagationDelay,
    @DefaultValue("10m") Duration drainTimeout) {

  ServingProperties {
    if (queueCapacity < 1) {
      throw new IllegalArgumentException(
          "activator.serving.queue-capacity is " + queueCapacity + ", but must be at least 1");
    }
  }
}
