package dev.activator.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/** Verifies pods as servers of TLS engines, and nothing else. */
abstract sealed class PodTrustManager extends X509ExtendedTrustManager
    permits NamespaceTrust, ServiceTrust {
  @Override
  public abstract void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException;

  @Override
  public final void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    throw new CertificateException("only engines are used");
  }

  @Override
  public final void checkServerTrusted(X509Certificate[] chain, String type)
      throws CertificateException {
    throw new CertificateException("only engines are used");
  }

  @Override
  public final void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    throw new CertificateException("pods are no clients");
  }

  @Override
  public final void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    throw new CertificateException("pods are no clients");
  }

  @Override
  public final void checkClientTrusted(X509Certificate[] chain, String type)
      throws CertificateException {
    throw new CertificateException("pods are no clients");
  }
}
