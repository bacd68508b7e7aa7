package dev.activator.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Believes a pod that an authority vouches for, and that is of the right namespace: its certificate
 * names {@code kn-user-<namespace>}.
 *
 * <p>
 * <b>Threads.</b> Any.
 *
 * <p>
 * <b>Source.</b> {@code VerifyConnection} in Knative networking's {@code transports.go}.
 */
final class NamespaceTrust extends X509ExtendedTrustManager {
  private static final String PREFIX = "kn-user-";
  /** RFC 5280, section 4.2.1.6. */
  private static final Integer DNS_NAME = 2;

  private final @Nullable X509ExtendedTrustManager authorities;
  private final String required;

  /**
   * Makes it for a namespace.
   *
   * @param authorities who vouch; null for nobody
   */
  NamespaceTrust(@Nullable X509ExtendedTrustManager authorities, String namespace) {
    this.authorities = authorities;
    this.required = PREFIX + namespace.toLowerCase(Locale.ROOT);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    if (authorities == null) {
      throw new CertificateException("no authority is known that vouches for pods");
    }
    authorities.checkServerTrusted(chain, type, engine);
    if (!names(chain[0]).contains(required)) {
      throw new CertificateException("the pod's certificate does not name " + required);
    }
  }

  private static List<String> names(X509Certificate leaf) throws CertificateException {
    var names = leaf.getSubjectAlternativeNames();
    return names == null
        ? List.of()
        : names.stream().filter(one -> DNS_NAME.equals(one.get(0)))
            .map(one -> String.valueOf(one.get(1))).toList();
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
