package dev.activator.app.properties;

import dev.activator.config.GoDuration;
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
    heldBytes = heldBytes == null ? usual(Runtime.getRuntime().maxMemory()) : heldBytes;
    if (queueCapacity < 1) {
      throw new IllegalArgumentException(
          "activator.serving.queue-capacity is " + queueCapacity + ", but must be at least 1");
    }
    refuseNegative("propagation-delay", propagationDelay);
    refuseNegative("drain-timeout", drainTimeout);
    if (heldBytes.toBytes() < 1) {
      throw new IllegalArgumentException(
          "activator.serving.held-bytes is " + heldBytes + ", but must be at least 1B");
    }
  }

  static DataSize usual(long heapLimit) {
    return DataSize.ofBytes(Math.min(heapLimit / 4, MOST_HELD_BYTES));
  }

  private static void refuseNegative(String name, Duration length) {
    if (length.isNegative()) {
      throw new IllegalArgumentException("activator.serving." + name + " is "
          + GoDuration.print(length) + ", but must not be negative");
    }
  }

  /** How many bytes of requests may be held. */
  public long heldLimit() {
    return Objects.requireNonNull(heldBytes).toBytes();
  }
}
