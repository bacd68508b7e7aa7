package dev.activator.app.properties;

import dev.activator.config.SettingPreconditions;
import dev.activator.lifecycle.ActivatorReadinessPolicy;
import dev.activator.proxy.policy.WaitingPagePolicy;
import io.netty.util.internal.PlatformDependent;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * How requests are received, queued and drained.
 *
 * @param bindAddress the interface to listen on
 * @param queueCapacity how many requests may wait for one revision; the next is refused with 503
 * @param heldBytes how many bytes of requests may be held in memory. From half of it on, bodies of
 *     waiting requests are not read; beyond it, no request is queued. By default a quarter of the
 *     heap, but at most 256 MB
 * @param unreadBytes how many unread bytes of responses may be held; beyond it, the
 *     slowest and largest connections or streams are ended. By default a quarter of the direct memory,
 *     but at most 256 MB
 * @param waitingPage whether navigations of browsers to a revision at zero are answered with a page
 *     that waits: {@code auto} or {@code off}
 * @param answerKnownProbes whether known probes of load balancers, kubelets and Prometheus wake no
 *     revision: at zero they get 200 and no content
 * @param propagationDelay from becoming unready to closing the ports at the end, for load balancers to
 *     notice; in its second half, responses in HTTP/1 say that callers should close their connections
 * @param drainTimeout how long running requests may then take to end
 */
@ConfigurationProperties("activator.serving")
public record ProxyServerProperties(@DefaultValue("0.0.0.0") String bindAddress,
    @DefaultValue("10000") int queueCapacity, @Nullable DataSize heldBytes,
    @Nullable DataSize unreadBytes, @DefaultValue("off") WaitingPagePolicy.Mode waitingPage,
    @DefaultValue("false") boolean answerKnownProbes,
    @DefaultValue("45s") Duration propagationDelay,
    @DefaultValue("9m") Duration drainTimeout) {
  private static final long MAX_DEFAULT_BYTES = 256 << 20;
  private static final long MIN_BYTES = 1 << 20;

  public ProxyServerProperties {
    heldBytes = heldBytes == null
        ? DataSize.ofBytes(Math.min(Runtime.getRuntime().maxMemory() / 4, MAX_DEFAULT_BYTES))
        : heldBytes;
    unreadBytes = unreadBytes == null
        ? DataSize.ofBytes(Math.min(PlatformDependent.maxDirectMemory() / 4, MAX_DEFAULT_BYTES))
        : unreadBytes;
    SettingPreconditions.check(queueCapacity >= 1, "activator.serving.queue-capacity",
        queueCapacity,
        "must be at least 1");
    // A number without a unit is a number of bytes.
    SettingPreconditions.check(heldBytes.toBytes() >= MIN_BYTES, "activator.serving.held-bytes",
        heldBytes, "must be at least 1MB");
    SettingPreconditions.check(unreadBytes.toBytes() >= MIN_BYTES, "activator.serving.unread-bytes",
        unreadBytes, "must be at least 1MB");
    SettingPreconditions.bindAddress("activator.serving.bind-address", bindAddress);
    propagationDelay = SettingPreconditions.notNegative("activator.serving.propagation-delay",
        propagationDelay);
    drainTimeout = SettingPreconditions.notNegative("activator.serving.drain-timeout",
        drainTimeout);
  }

  public long heldLimit() {
    return Objects.requireNonNull(heldBytes).toBytes();
  }

  public long unreadLimit() {
    return Objects.requireNonNull(unreadBytes).toBytes();
  }

  /**
   * The ports for requests. 0 takes any free one, which the log names.
   *
   * @param http1 the port for HTTP/1.1 and HTTP/2 without TLS
   * @param h2c a second port for both, where callers expect HTTP/2
   * @param https the port for both over TLS, if there is a certificate
   */
  @ConfigurationProperties("activator.port")
  public record PortProperties(@DefaultValue("8012") int http1, @DefaultValue("8013") int h2c,
      @DefaultValue("8112") int https) {

    public PortProperties {
      SettingPreconditions.port("activator.port.http1", http1);
      SettingPreconditions.port("activator.port.h2c", h2c);
      SettingPreconditions.port("activator.port.https", https);
    }
  }

  /**
   * What readiness needs in addition to synced informers.
   *
   * @param autoscaler when the connection to the autoscaler must be up: {@code startup} (once), {@code
   *     always} or {@code never}
   * @param autoscalerTimeout how long {@code startup} waits for it once the informers have synced; then
   *     requests are served without it
   */
  @ConfigurationProperties("activator.readiness")
  public record ReadinessProperties(@DefaultValue("startup") ActivatorReadinessPolicy autoscaler,
      @DefaultValue("60s") Duration autoscalerTimeout) {

    public ReadinessProperties {
      autoscalerTimeout = SettingPreconditions.notNegative("activator.readiness.autoscaler-timeout",
          autoscalerTimeout);
    }
  }
}
