package dev.activator.tls;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Decides which certificates of pods are trusted. It has one SSL context per namespace, so that
 * sessions are not shared between namespaces. The system's authorities are not trusted.
 *
 * <p><b>Threads.</b> Any.
 */
final class PodTrust {
  private static final int SESSIONS = 64;
  /** The maximum number of contexts; the least recently used one is dropped. */
  static final int MAX_NAMESPACES = 1_000;

  private final @Nullable X509ExtendedTrustManager authorities;
  /** Guarded by this. */
  private final Map<String, SslContext> contexts = new LinkedHashMap<>(16, 0.75f, true) {
    @Override
    protected boolean removeEldestEntry(Map.Entry<String, SslContext> eldest) {
      return size() > MAX_NAMESPACES;
    }
  };

  private PodTrust(@Nullable X509ExtendedTrustManager authorities) {
    this.authorities = authorities;
  }

  /** Trusts pods whose certificates these authorities have issued; without authorities, none. */
  static PodTrust of(Collection<X509Certificate> authorities) {
    return new PodTrust(
        authorities.isEmpty() ? null : PemCertificates.trust(List.copyOf(authorities)));
  }

  synchronized SslContext of(String namespace) {
    return contexts.computeIfAbsent(namespace, this::context);
  }

  private SslContext context(String namespace) {
    try {
      return SslContextBuilder.forClient().sslProvider(SslProvider.JDK)
          .trustManager(new NamespaceTrust(authorities, namespace))
          .protocols(List.of("TLSv1.3")).endpointIdentificationAlgorithm("HTTPS")
          .sessionCacheSize(SESSIONS).build();
    } catch (SSLException e) {
      throw new IllegalStateException("this runtime has TLS 1.3", e);
    }
  }

  /** <b>Source.</b> {@code VerifyConnection} in Knative networking's {@code transports.go}. */
  private static final class NamespaceTrust extends X509ExtendedTrustManager {
    private static final String PREFIX = "kn-user-";
    /** RFC 5280, section 4.2.1.6. */
    private static final Integer DNS_NAME = 2;

    private final @Nullable X509ExtendedTrustManager authorities;
    private final String required;

    NamespaceTrust(@Nullable X509ExtendedTrustManager authorities, String namespace) {
      this.authorities = authorities;
      this.required = PREFIX + namespace.toLowerCase(Locale.ROOT);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      if (authorities == null) {
        throw new CertificateException("no authority for pods' certificates is known");
      }
      authorities.checkServerTrusted(chain, type, engine);
      var names = chain[0].getSubjectAlternativeNames();
      if (names == null || !names.contains(List.of(DNS_NAME, required))) {
        throw new CertificateException("the pod's certificate does not name " + required);
      }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      throw new CertificateException("only engines are used");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      throw new CertificateException("only engines are used");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      throw new CertificateException("pods are no clients");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      throw new CertificateException("pods are no clients");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      throw new CertificateException("pods are no clients");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return authorities == null ? new X509Certificate[0] : authorities.getAcceptedIssuers();
    }
  }
}
