package dev.activator.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Trusts the authorities that are valid at the time of a handshake. Java itself trusts an authority
 * after its end, too.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Source.</b> {@code isValid} in Go's {@code crypto/x509/verify.go}, which checks the dates of
 * roots as those of all other certificates.
 */
final class CurrentAuthorities extends X509ExtendedTrustManager {
  private final List<X509Certificate> all;
  private volatile @Nullable Valid valid;

  private record Valid(List<X509Certificate> authorities, X509ExtendedTrustManager trust) {}

  @FunctionalInterface
  private interface Check {
    void by(X509ExtendedTrustManager trust, X509Certificate[] chain) throws CertificateException;
  }

  CurrentAuthorities(List<X509Certificate> all) {
    this.all = List.copyOf(all);
  }

  private void verify(X509Certificate[] chain, Check check) throws CertificateException {
    var now = all.stream().filter(CurrentAuthorities::isValid).toList();
    try {
      if (now.isEmpty()) {
        throw new CertificateException("no trusted authority is valid now");
      }
      check.by(trust(now), withCurrentIssuers(chain));
    } catch (CertificateException e) {
      var issuer = chain[chain.length - 1].getIssuerX500Principal();
      for (var one : all) {
        if (one.getSubjectX500Principal().equals(issuer) && !now.contains(one)) {
          throw new CertificateExpiredException("the authority " + issuer + " is valid from "
              + one.getNotBefore().toInstant() + " to " + one.getNotAfter().toInstant());
        }
      }
      throw e;
    }
  }

  /** Of an expired issuer and a trusted authority with the same name, Java would take the expired one. */
  private static X509Certificate[] withCurrentIssuers(X509Certificate[] chain) {
    return Stream
        .concat(Stream.of(chain[0]), Stream.of(chain).skip(1).filter(CurrentAuthorities::isValid))
        .toArray(X509Certificate[]::new);
  }

  private static boolean isValid(X509Certificate one) {
    try {
      one.checkValidity();
      return true;
    } catch (CertificateExpiredException | CertificateNotYetValidException e) {
      return false;
    }
  }

  private X509ExtendedTrustManager trust(List<X509Certificate> now) {
    var before = valid;
    if (before != null && before.authorities.equals(now)) {
      return before.trust;
    }
    var trust = PemCertificates.trustAtAnyTime(now);
    valid = new Valid(now, trust);
    return trust;
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    verify(chain, (trust, shown) -> trust.checkServerTrusted(shown, type, engine));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    verify(chain, (trust, shown) -> trust.checkServerTrusted(shown, type, socket));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type)
      throws CertificateException {
    verify(chain, (trust, shown) -> trust.checkServerTrusted(shown, type));
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    verify(chain, (trust, shown) -> trust.checkClientTrusted(shown, type, engine));
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    verify(chain, (trust, shown) -> trust.checkClientTrusted(shown, type, socket));
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type)
      throws CertificateException {
    verify(chain, (trust, shown) -> trust.checkClientTrusted(shown, type));
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return all.toArray(X509Certificate[]::new);
  }
}
