package dev.activator.tls;

import dev.activator.loop.LogLimit;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.Slot;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslHandler;
import java.net.SocketAddress;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS for requests to pods: whether it is required, and the handlers and targets of connections.
 * Probes never use TLS.
 *
 * <p><b>Threads.</b> Any. Changes apply to new connections.
 *
 * <p><b>Source.</b> {@code NewProxyAutoTLSTransport} and {@code DialTLSWithBackOff} in Knative;
 * {@code certificate/cache.go} and {@code handler.go} of its activator. The pool there does not
 * separate namespaces.
 */
public final class PodTls {
  /** A name that every pod's certificate contains. */
  public static final String SERVER_NAME = "data-plane.knative.dev";

  private static final Logger log = LoggerFactory.getLogger(PodTls.class);
  private static final int POD_PORT = 8112;
  private static final int SERVICE_PORT = 443;

  private final UnaryOperator<Destination> pods;
  private final LiveRevisions revisions;
  private final Slot<AtomicReference<@Nullable Destination>> clusterIp;
  private final LogLimit failures = new LogLimit();
  private volatile boolean required;
  private volatile PodTrust trust = PodTrust.of(List.of());

  public PodTls(LiveRevisions revisions) {
    this(revisions, pod -> new Destination(pod.host(), POD_PORT));
  }

  /** @param pods maps a destination to its TLS port */
  public PodTls(LiveRevisions revisions, UnaryOperator<Destination> pods) {
    this.revisions = revisions;
    this.clusterIp = revisions.slot("last ClusterIP", _ -> new AtomicReference<>());
    this.pods = pods;
  }

  public void require() {
    required = true;
  }

  public boolean isRequired() {
    return required;
  }

  public void trust(Collection<X509Certificate> authorities) {
    trust = PodTrust.of(authorities);
  }

  /** Records the ClusterIP. Call before requests are sent to these destinations. */
  public void healthy(HealthyDestinations now) {
    var last = now.clusterIp() == null ? null : revisions.slot(now.revision(), clusterIp);
    if (last != null) {
      last.set(now.clusterIp());
    }
  }

  public DialTarget target(Destination pod, LiveRevision revision) {
    if (!required) {
      return DialTarget.plain(pod);
    }
    var last = revision.peek(clusterIp);
    var over = last != null && pod.equals(last.get())
        ? new Destination(pod.host(), SERVICE_PORT)
        : pods.apply(pod);
    return new DialTarget(over, revision.id().namespace());
  }

  public void failed(SocketAddress pod, Throwable handshake, long nowNanos) {
    Throwable root = handshake;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    var why = root;
    failures.log(nowNanos,
        others -> log.warn("TLS with the pod at {} fails: {}. {} other handshakes"
            + " failed since the last such line", pod, why.toString(), others));
  }

  /** @param protocols the protocols for ALPN */
  public SslHandler handler(ByteBufAllocator allocator, String namespace, String... protocols) {
    var handler = trust.of(namespace).newHandler(allocator, SERVER_NAME, POD_PORT);
    var parameters = handler.engine().getSSLParameters();
    parameters.setApplicationProtocols(protocols);
    handler.engine().setSSLParameters(parameters);
    return handler;
  }
}
