package dev.activator.tls;

import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PodTransport.PodIdentity.OfService;
import dev.activator.tls.PodTls.UntrustedPodException;
import dev.activator.tls.PodTls.UntrustedPodException.Reason;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import javax.net.ssl.SSLEngine;
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
        context(new NamespaceVerifier(dataPlane, namespace), NEWEST);
      case OfService service -> context(new ServiceVerifier(service), ALL);
    };
  }

  private static SslContext context(PodVerifier trust, List<String> protocols) {
    try {
      return SslContextBuilder.forClient().sslProvider(SslProvider.JDK).trustManager(trust)
          .protocols(protocols).endpointIdentificationAlgorithm("HTTPS")
          .sessionCacheSize(SESSIONS).build();
    } catch (SSLException e) {
      throw new IllegalStateException("this runtime has TLS 1.2 and 1.3", e);
    }
  }

  /** Verifies pods as servers. */
  private abstract static class PodVerifier extends EngineTrustManager {
    final @Nullable X509ExtendedTrustManager authorities;

    /** @param authorities null if none is known */
    PodVerifier(@Nullable X509ExtendedTrustManager authorities) {
      this.authorities = authorities;
    }

    @Override
    public final X509Certificate[] getAcceptedIssuers() {
      return authorities == null
          ? super.getAcceptedIssuers()
          : authorities.getAcceptedIssuers();
    }
  }

  /**
   * Verifies the certificates of Knative's queue-proxies of one namespace.
   *
   * <p><b>Source.</b> {@code VerifyConnection} in Knative networking's {@code transports.go}.
   */
  private static final class NamespaceVerifier extends PodVerifier {
    private static final String PREFIX = "kn-user-";
    /** RFC 5280, section 4.2.1.6. */
    private static final Integer DNS_NAME = 2;

    private final String required;

    NamespaceVerifier(@Nullable X509ExtendedTrustManager authorities, String namespace) {
      super(authorities);
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
  }

  /**
   * Verifies the certificates of pods that speak TLS themselves, as HTTPS clients do.
   *
   * <p><b>Errors.</b> An {@link UntrustedPodException} says why.
   */
  private static final class ServiceVerifier extends PodVerifier {
    private static final int MAX_SHOWN_LENGTH = 300;

    private final String name;

    ServiceVerifier(OfService identity) {
      super(authorities(identity.authorities()));
      this.name = identity.name();
    }

    private static @Nullable X509ExtendedTrustManager authorities(@Nullable String pem) {
      if (pem == null) {
        return null;
      }
      return pem.isEmpty()
          ? PemCertificates.systemTrust()
          : PemCertificates.trust(PemCertificates.read(pem).certificates());
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      if (authorities == null) {
        throw new UntrustedPodException(Reason.UNKNOWN_ISSUER,
            "it is not known which authorities to trust");
      }
      try {
        authorities.checkServerTrusted(chain, type, engine);
      } catch (CertificateException e) {
        throw explained(authorities, chain, type, e);
      }
    }

    private static void verifyTime(X509Certificate one) throws UntrustedPodException {
      try {
        one.checkValidity();
      } catch (CertificateExpiredException | CertificateNotYetValidException e) {
        throw new UntrustedPodException(Reason.EXPIRED,
            "the certificate of " + shown(one.getSubjectX500Principal().getName())
                + " is valid from " + one.getNotBefore().toInstant() + " to "
                + one.getNotAfter().toInstant());
      }
    }

    private CertificateException explained(X509ExtendedTrustManager known, X509Certificate[] chain,
        String type, CertificateException failure) throws UntrustedPodException {
      for (var one : chain) {
        verifyTime(one);
      }
      try {
        // Verifies all but the name.
        known.checkServerTrusted(chain, type);
      } catch (CertificateExpiredException e) {
        return new UntrustedPodException(Reason.EXPIRED, String.valueOf(e.getMessage()));
      } catch (CertificateException e) {
        return e.getCause() instanceof CertPathBuilderException
            ? new UntrustedPodException(Reason.UNKNOWN_ISSUER,
                "none of the trusted authorities has issued its certificate; the issuer is "
                    + shown(chain[chain.length - 1].getIssuerX500Principal().getName()))
            : failure;
      }
      return new UntrustedPodException(Reason.WRONG_NAME,
          "its certificate does not name " + name + ", but " + names(chain[0]));
    }

    private static String names(X509Certificate certificate) {
      try {
        var names = certificate.getSubjectAlternativeNames();
        return names == null
            ? "has no alternative names"
            : shown(names.stream().map(one -> String.valueOf(one.get(1)))
                .collect(Collectors.joining(", ")));
      } catch (CertificateParsingException e) {
        return "names that cannot be read";
      }
    }

    /** A text of the pod, fit for the log. */
    private static String shown(String text) {
      var printable = text.replaceAll("[^ -~]", "?");
      return printable.length() > MAX_SHOWN_LENGTH
          ? printable.substring(0, MAX_SHOWN_LENGTH) + "..."
          : printable;
    }
  }
}
