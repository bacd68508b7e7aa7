package dev.activator.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Verifies certificates for TLS engines, and nothing else. A side that a subclass does not verify is
 * refused.
 */
public abstract class EngineTrustManager extends X509ExtendedTrustManager {
  private static CertificateException unused() {
    return new CertificateException("this side is not verified, or not for an engine");
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    throw unused();
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    throw unused();
  }

  @Override
  public final void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    throw unused();
  }

  @Override
  public final void checkServerTrusted(X509Certificate[] chain, String type)
      throws CertificateException {
    throw unused();
  }

  @Override
  public final void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    throw unused();
  }

  @Override
  public final void checkClientTrusted(X509Certificate[] chain, String type)
      throws CertificateException {
    throw unused();
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }
}
