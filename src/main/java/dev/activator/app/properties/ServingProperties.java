package dev.activator.app.properties;

import dev.activator.lifecycle.ReadinessPolicy;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * How requests are taken.
 *
 * @param bindAddress the interface to listen on
 * @param queueCapacity requests that may wait for one revision; the next is refused with 503
 * @param heldBytes how much of requests may be held in memory. From half of it on, the body of a
 *     request that waits is not read; past it, no further request is queued. By default a quarter of
 *     the heap's limit, but no more than 256 MB
 * @param propagationDelay between saying "not ready" and taking no more connections at the end, for
 *     load balancers to notice; in its second half, responses in HTTP/1 ask callers to leave
 * @param drainTimeout how long requests that run then may take to end
 */
@ConfigurationProperties("activator.serving")
public record ServingProperties(@DefaultValue("0.0.0.0") String bindAddress,
    @DefaultValue("10000") int queueCapacity, @Nullable DataSize heldBytes,
    @DefaultValue("45s") Duration propagationDelay,
    @DefaultValue("10m") Duration drainTimeout) {
  private static final long MOST_HELD_BYTES = 256 << 20;

  public ServingProperties {
    heldBytes = heldBytes == null
        ? DataSize.ofBytes(Math.min(Runtime.getRuntime().maxMemory() / 4, MOST_HELD_BYTES))
        : heldBytes;
    Requirement.check(queueCapacity >= 1, "activator.serving.queue-capacity", queueCapacity,
        "must be at least 1");
    Requirement.check(heldBytes.toBytes() >= 1, "activator.serving.held-bytes", heldBytes,
        "must be at least 1B");
    Requirement.notNegative("activator.serving.propagation-delay", propagationDelay);
    Requirement.notNegative("activator.serving.drain-timeout", drainTimeout);
  }

  /** How many bytes of requests may be held. */
  public long heldLimit() {
    return Objects.requireNonNull(heldBytes).toBytes();
  }

  /**
   * The ports requests come in on. 0 takes a free one, which the log names.
   *
   * @param http1 the port for plain HTTP, 1.1 and 2
   * @param h2c the port for plain HTTP, 1.1 and 2, of callers that expect HTTP/2 there
   * @param https the port for both over TLS, where there is a certificate
   */
  @ConfigurationProperties("activator.port")
  public record PortProperties(@DefaultValue("8012") int http1, @DefaultValue("8013") int h2c,
      @DefaultValue("8112") int https) {

    public PortProperties {
      Requirement.port("activator.port.http1", http1);
      Requirement.port("activator.port.h2c", h2c);
      Requirement.port("activator.port.https", https);
    }
  }

  /**
   * What "ready" takes, besides synced informers and not draining.
   *
   * @param autoscaler when the link to the autoscaler must be up
   */
  @ConfigurationProperties("activator.readiness")
  public record ReadinessProperties(@DefaultValue("startup") ReadinessPolicy autoscaler) {}
}
