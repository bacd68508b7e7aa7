package dev.activator.embedded.runtime;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** TLS that accepts every certificate: the kubelet's probes verify none either. */
final class AnyCertificate extends X509ExtendedTrustManager {
  private AnyCertificate() {}

  /** Over a connected socket, which it closes with itself. */
  static SSLSocket over(Socket connected) throws IOException {
    try {
      var context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[]{new AnyCertificate()}, null);
      return (SSLSocket) context.getSocketFactory().createSocket(connected,
          connected.getInetAddress().getHostAddress(), connected.getPort(), true);
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("every Java platform has TLS", impossible);
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) {}

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) {}

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }
}
