package dev.activator.tls;

import dev.activator.loop.LogLimit;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.Slot;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandler;
import java.net.SocketAddress;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.function.UnaryOperator;
import javax.net.ssl.SNIHostName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS to pods: whether it is used, and the handlers and targets of connections. Programs in pods
 * that speak TLS themselves are probed over TLS, too; queue-proxies are probed without.
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
  private final Slot<QueueProxies> queueProxies;
  private final LogLimit failures = new LogLimit();
  private volatile boolean required;
  private volatile PodTrust trust = PodTrust.of(List.of());

  public PodTls(LiveRevisions revisions) {
    this(revisions, pod -> new Destination(pod.host(), POD_PORT));
  }

  /** @param pods maps a destination to its TLS port */
  public PodTls(LiveRevisions revisions, UnaryOperator<Destination> pods) {
    this.revisions = revisions;
    this.queueProxies = revisions.declare("TLS to queue-proxies",
        revision -> new QueueProxies(revision.id().namespace()));
    this.pods = pods;
  }

  /** The queue-proxies of one revision. */
  private static final class QueueProxies {
    private final PodIdentity identity;
    private volatile @Nullable Destination clusterIp;

    private QueueProxies(String namespace) {
      identity = new PodIdentity.OfNamespace(namespace);
    }
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
    var known = now.clusterIp() == null ? null : revisions.slot(now.revision(), queueProxies);
    if (known != null) {
      known.clusterIp = now.clusterIp();
    }
  }

  /** @param identity of a pod that speaks TLS itself; null for others */
  public DialTarget target(Destination pod, LiveRevision revision,
      @Nullable PodIdentity identity) {
    if (identity != null || !required) {
      return new DialTarget(pod, identity);
    }
    var known = revision.slot(queueProxies);
    if (known == null) {
      known = new QueueProxies(revision.id().namespace());
    }
    var over = pod.equals(known.clusterIp)
        ? new Destination(pod.host(), SERVICE_PORT)
        : pods.apply(pod);
    return new DialTarget(over, known.identity);
  }

  /** @param pod where the handshake failed */
  public void failed(SocketAddress pod, Throwable handshake, long nowNanos) {
    Throwable root = handshake;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    var why = switch (root) {
      case UntrustedPodException untrusted -> untrusted.getMessage();
      // Its message quotes what the pod has sent.
      case NotSslRecordException _ -> "it does not speak TLS";
      default -> root.toString();
    };
    failures.log(nowNanos,
        others -> log.warn("TLS with the pod at {} fails: {}. {} other handshakes"
            + " failed since the last such line", pod, why, others));
  }

  /** @param protocols the protocols for ALPN */
  public SslHandler handler(ByteBufAllocator allocator, PodIdentity identity,
      String... protocols) {
    var name = identity instanceof PodIdentity.OfService service ? service.name() : SERVER_NAME;
    var handler = trust.of(identity).newHandler(allocator, name, POD_PORT);
    var parameters = handler.engine().getSSLParameters();
    // Java sends no name without a dot by itself.
    parameters.setServerNames(List.of(new SNIHostName(name)));
    parameters.setApplicationProtocols(protocols);
    handler.engine().setSSLParameters(parameters);
    return handler;
  }

  /** Why the certificate of a pod is not trusted. The message is for the log. */
  public static final class UntrustedPodException extends CertificateException {
    public enum Reason {
      UNKNOWN_ISSUER,
      WRONG_NAME,
      /** Or not valid yet. */
      EXPIRED
    }

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    UntrustedPodException(Reason reason, String message) {
      super(message);
      this.reason = reason;
    }

    public Reason reason() {
      return reason;
    }
  }
}
