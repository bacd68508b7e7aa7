package dev.activator.settings;

import dev.activator.config.SettingPreconditions;
import dev.activator.lifecycle.ActivatorHealth.AutoscalerReadinessPolicy;
import dev.activator.config.WaitingPageMode;
import io.netty.util.internal.PlatformDependent;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The settings for receiving, queueing and draining requests.
 *
 * @param bindAddress the interface to listen on
 * @param queueCapacity the maximum number of queued requests of one revision; further ones are
 *     refused with 503
 * @param queueTimeout how long a request may wait for a pod, from its arrival; zero if only the
 *     revision's own timeouts apply. With a start timeout, from the first pod
 * @param startTimeout how long a request may wait while there is no pod, from its arrival; zero if
 *     the queue timeout counts for that, too
 * @param heldBytes the limit of requests held in memory. By default a quarter of the heap, but at
 *     most 256 MB
 * @param unreadBytes the limit of response bytes that callers have not read. By default a quarter
 *     of the direct memory, but at most 256 MB
 * @param waitingPage whether navigations of browsers to a revision at zero are answered with a
 *     waiting page: {@code auto} or {@code off}
 * @param answerKnownProbes whether known probes of load balancers, kubelets and Prometheus get an
 *     empty 200 at zero, instead of waking the revision
 * @param propagationDelay the time between becoming unready and closing the ports at a shutdown, so
 *     that load balancers can notice
 * @param drainTimeout how long running requests may take to end after that
 */
@ConfigurationProperties("activator.serving")
public record ProxyServerProperties(@DefaultValue("0.0.0.0") String bindAddress,
    @DefaultValue("10000") int queueCapacity, @DefaultValue("0s") Duration queueTimeout,
    @DefaultValue("0s") Duration startTimeout,
    @Nullable DataSize heldBytes,
    @Nullable DataSize unreadBytes, @DefaultValue("off") WaitingPageMode waitingPage,
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
    // The check also catches a number without a unit, which is a number of bytes.
    SettingPreconditions.check(heldBytes.toBytes() >= MIN_BYTES, "activator.serving.held-bytes",
        heldBytes, "must be at least 1MB");
    SettingPreconditions.check(unreadBytes.toBytes() >= MIN_BYTES, "activator.serving.unread-bytes",
        unreadBytes, "must be at least 1MB");
    SettingPreconditions.bindAddress("activator.serving.bind-address", bindAddress);
    queueTimeout = SettingPreconditions.notNegative("activator.serving.queue-timeout",
        queueTimeout);
    startTimeout = SettingPreconditions.notNegative("activator.serving.start-timeout",
        startTimeout);
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
   * The settings of the ports for requests. 0 takes any free port, which is logged.
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
   * The settings for what readiness needs in addition to synced informers.
   *
   * @param autoscaler when the connection to the autoscaler must be up: {@code startup} (once), {@code
   *     always} or {@code never}
   * @param autoscalerTimeout how long {@code startup} waits for the connection after the informers
   *     have synced; then requests are served without it
   */
  @ConfigurationProperties("activator.readiness")
  public record ReadinessProperties(@DefaultValue("startup") AutoscalerReadinessPolicy autoscaler,
      @DefaultValue("60s") Duration autoscalerTimeout) {

    public ReadinessProperties {
      autoscalerTimeout = SettingPreconditions.notNegative("activator.readiness.autoscaler-timeout",
          autoscalerTimeout);
    }
  }
}
