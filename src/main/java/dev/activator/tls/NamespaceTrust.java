package dev.activator.tls;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Verifies the certificates of Knative's queue-proxies of one namespace.
 *
 * <p><b>Source.</b> {@code VerifyConnection} in Knative networking's {@code transports.go}.
 */
final class NamespaceTrust extends PodTrustManager {
  private static final String PREFIX = "kn-user-";
  /** RFC 5280, section 4.2.1.6. */
  private static final Integer DNS_NAME = 2;

  private final @Nullable X509ExtendedTrustManager authorities;
  private final String required;

  /** @param authorities null if none is known */
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
  public X509Certificate[] getAcceptedIssuers() {
    return authorities == null ? new X509Certificate[0] : authorities.getAcceptedIssuers();
  }
}
