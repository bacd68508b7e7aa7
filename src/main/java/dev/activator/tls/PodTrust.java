package dev.activator.tls;

import dev.activator.revision.PodTransport.PodIdentity;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Decides which certificates of pods are trusted. It has one SSL context for each identity, so that
 * sessions are not shared between identities. The system's authorities are trusted only where a
 * ScaledService says so.
 *
 * <p><b>Threads.</b> Any.
 */
final class PodTrust {
  private static final int SESSIONS = 64;
  private static final List<String> NEWEST = List.of("TLSv1.3");
  private static final List<String> ALL = List.of("TLSv1.3", "TLSv1.2");
  /** The maximum number of contexts; the least recently used one is dropped. */
  static final int MAX_CONTEXTS = 1_000;

  private final @Nullable X509ExtendedTrustManager dataPlane;
  /** Guarded by this. */
  private final Map<PodIdentity, SslContext> contexts = new LinkedHashMap<>(16, 0.75f, true) {
    @Override
    protected boolean removeEldestEntry(Map.Entry<PodIdentity, SslContext> eldest) {
      return size() > MAX_CONTEXTS;
    }
  };

  private PodTrust(@Nullable X509ExtendedTrustManager dataPlane) {
    this.dataPlane = dataPlane;
  }

  /**
   * @param authorities those of Knative's data plane; without them, no queue-proxy is trusted
   */
  static PodTrust of(Collection<X509Certificate> authorities) {
    return new PodTrust(
        authorities.isEmpty() ? null : PemCertificates.trust(List.copyOf(authorities)));
  }

  synchronized SslContext of(PodIdentity identity) {
    return contexts.computeIfAbsent(identity, this::context);
  }

  private SslContext context(PodIdentity identity) {
    return switch (identity) {
      case PodIdentity.OfNamespace(var namespace) ->
        context(new NamespaceTrust(dataPlane, namespace), NEWEST);
      case PodIdentity.OfService service -> context(ServiceTrust.of(service), ALL);
    };
  }

  private static SslContext context(PodTrustManager trust, List<String> protocols) {
    try {
      return SslContextBuilder.forClient().sslProvider(SslProvider.JDK).trustManager(trust)
          .protocols(protocols).endpointIdentificationAlgorithm("HTTPS")
          .sessionCacheSize(SESSIONS).build();
    } catch (SSLException e) {
      throw new IllegalStateException("this runtime has TLS 1.2 and 1.3", e);
    }
  }
}
