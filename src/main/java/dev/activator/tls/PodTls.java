package dev.activator.tls;

import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionId;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslHandler;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * Whether requests go to pods over TLS, where to, and whom to believe then. Probes never do: a pod
 * answers those without.
 *
 * <p>
 * <b>Threads.</b> Any may call in. What is new holds for connections from then on.
 *
 * <p>
 * <b>Source.</b> {@code NewProxyAutoTLSTransport} and {@code DialTLSWithBackOff} in Knative, {@code
 * certificate/cache.go} and {@code handler.go} of its activator. There the connection pool knows
 * nothing of namespaces.
 */
public final class PodTls {
  /** What every pod's certificate is for, besides its own namespace. */
  public static final String SERVER_NAME = "data-plane.knative.dev";

  private static final int POD_PORT = 8112;
  private static final int SERVICE_PORT = 443;

  private final UnaryOperator<Destination> pods;
  /** Addresses that are a Service's and no pod's; the last one of each revision that has had one. */
  private final Map<RevisionId, Destination> services = new ConcurrentHashMap<>();
  private volatile boolean required;
  private volatile PodTrust trust = PodTrust.of(List.of());

  /** As Knative's pods are. */
  public PodTls() {
    this(pod -> new Destination(pod.host(), POD_PORT));
  }

  /**
   * For pods that take TLS elsewhere.
   *
   * @param pods where the pod of a destination does
   */
  public PodTls(UnaryOperator<Destination> pods) {
    this.pods = pods;
  }

  /** From now on requests go over TLS, and not without. */
  public void require() {
    required = true;
  }

  /** Whether requests go over TLS. */
  public boolean isRequired() {
    return required;
  }

  /** From now on these authorities, and no others, vouch for pods. */
  public void trust(Collection<X509Certificate> authorities) {
    trust = PodTrust.of(authorities);
  }

  /** Tells where a revision's requests go, before any is sent there. */
  public void healthy(HealthyDestinations now) {
    var clusterIp = now.clusterIp();
    if (clusterIp != null) {
      services.put(now.revision(), clusterIp);
    }
  }

  /** A revision is deleted. */
  public void gone(RevisionId revision) {
    services.remove(revision);
  }

  /** Whom to connect to for a request of a revision that is to run there. */
  public Peer peer(Destination pod, RevisionId revision) {
    if (!required) {
      return Peer.plain(pod);
    }
    var over = pod.equals(services.get(revision))
        ? new Destination(pod.host(), SERVICE_PORT)
        : pods.apply(pod);
    return new Peer(over, revision.namespace());
  }

  /**
   * Makes a connection one over TLS.
   *
   * @param protocols to ask for; none leaves it to what is sent first
   */
  public SslHandler handler(ByteBufAllocator allocator, String namespace, String... protocols) {
    var handler = trust.of(namespace).newHandler(allocator, SERVER_NAME, POD_PORT);
    var parameters = handler.engine().getSSLParameters();
    parameters.setApplicationProtocols(protocols);
    handler.engine().setSSLParameters(parameters);
    return handler;
  }
}
