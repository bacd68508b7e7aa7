package dev.activator.tls;

import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.pem.PemContent;
import org.springframework.boot.ssl.pem.PemSslStore;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;

/**
 * The certificates of a text in PEM. Other text is ignored.
 *
 * <p><b>Source.</b> RFC 7468, section 5; {@code AppendCertsFromPEM} in Go.
 *
 * @param isBroken whether a certificate cannot be parsed, or there is none
 */
public record PemCertificates(List<X509Certificate> certificates, boolean isBroken) {
  private static final String BEGIN = "-----BEGIN CERTIFICATE-----";
  private static final String END = "-----END CERTIFICATE-----";

  public static PemCertificates read(String text) {
    var found = new ArrayList<X509Certificate>();
    boolean broken = false;
    int begin = text.indexOf(BEGIN);
    while (begin >= 0) {
      // Begins behind the complete first line, because both markers have the same five dashes.
      int end = text.indexOf(END, begin + BEGIN.length());
      int next = text.indexOf(BEGIN, begin + BEGIN.length());
      boolean whole = end >= 0 && (next < 0 || end < next);
      broken |= !whole || !add(found, text.substring(begin + BEGIN.length(), end));
      begin = next;
    }
    return new PemCertificates(List.copyOf(found), broken || found.isEmpty());
  }

  private static boolean add(List<X509Certificate> to, String base64) {
    try {
      byte[] der = Base64.getMimeDecoder().decode(base64);
      to.add((X509Certificate) CertificateFactory.getInstance("X.509")
          .generateCertificate(new ByteArrayInputStream(der)));
      return true;
    } catch (IllegalArgumentException | CertificateException e) {
      return false;
    }
  }

  public static String text(Collection<X509Certificate> certificates) {
    var text = new StringBuilder();
    for (var one : certificates) {
      try {
        text.append(BEGIN).append('\n')
            .append(Base64.getMimeEncoder().encodeToString(one.getEncoded())).append('\n')
            .append(END).append('\n');
      } catch (CertificateEncodingException e) {
        throw new IllegalStateException("a certificate that was parsed has an encoding", e);
      }
    }
    return text.toString();
  }

  /** @throws CertificateException if a certificate cannot be parsed, or there is none */
  public static List<X509Certificate> certificates(String text) throws CertificateException {
    var pem = read(text);
    if (pem.isBroken) {
      throw new CertificateException(pem.certificates.isEmpty()
          ? "there is no certificate that can be read"
          : "one of the certificates cannot be read");
    }
    return pem.certificates;
  }

  /** A trust manager that trusts these authorities and no others, each until it expires. */
  public static X509ExtendedTrustManager trust(List<X509Certificate> authorities) {
    return new CurrentAuthorities(authorities);
  }

  /** A trust manager that trusts the authorities of Java's own trust store, each until it expires. */
  static X509ExtendedTrustManager systemTrust() {
    return trust(List.of(trust((KeyStore) null).getAcceptedIssuers()));
  }

  static X509ExtendedTrustManager trustAtAnyTime(List<X509Certificate> authorities) {
    return trust(new PemSslStoreBundle(null, PemSslStore.of(authorities, null)).getTrustStore());
  }

  private static X509ExtendedTrustManager trust(@Nullable KeyStore store) {
    try {
      var factory = TrustManagerFactory.getInstance("PKIX");
      factory.init(store);
      return (X509ExtendedTrustManager) factory.getTrustManagers()[0];
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java runtime has PKIX and a trust store", e);
    }
  }

  /**
   * Parses a private key in PKCS#8, PKCS#1 or SEC 1.
   *
   * @throws CertificateException whose message contains no part of the key
   */
  static PrivateKey key(String text) throws CertificateException {
    try {
      var key = PemContent.of(text).getPrivateKey();
      if (key != null) {
        return key;
      }
    } catch (RuntimeException e) {
      throw new CertificateException("the private key cannot be read: " + Objects
          .requireNonNullElseGet(e.getMessage(), e::toString), e);
    }
    throw new CertificateException("there is no private key");
  }
}
