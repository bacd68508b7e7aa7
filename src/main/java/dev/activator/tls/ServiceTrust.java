package dev.activator.tls;

import dev.activator.revision.PodTransport.PodIdentity.OfService;
import dev.activator.tls.UntrustedPodException.Reason;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.stream.Collectors;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Verifies the certificates of pods that speak TLS themselves, as HTTPS clients do.
 *
 * <p><b>Errors.</b> An {@link UntrustedPodException} says why.
 */
final class ServiceTrust extends PodTrustManager {
  private static final int MAX_SHOWN_LENGTH = 300;

  private final @Nullable X509ExtendedTrustManager authorities;
  private final String name;

  /** @param authorities null if none is known */
  private ServiceTrust(@Nullable X509ExtendedTrustManager authorities, String name) {
    this.authorities = authorities;
    this.name = name;
  }

  static ServiceTrust of(OfService identity) {
    return new ServiceTrust(authorities(identity.authorities()), identity.name());
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

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return authorities == null ? new X509Certificate[0] : authorities.getAcceptedIssuers();
  }
}
