package dev.activator.http;

import java.net.InetAddress;
import java.net.Socket;
import javax.net.SocketFactory;

/** Makes sockets for OkHttp, which connects them itself. */
public abstract class OkHttpSocketFactory extends SocketFactory {
  @Override
  public final Socket createSocket(String host, int port) {
    throw unused();
  }

  @Override
  public final Socket createSocket(String host, int port, InetAddress from, int fromPort) {
    throw unused();
  }

  @Override
  public final Socket createSocket(InetAddress host, int port) {
    throw unused();
  }

  @Override
  public final Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort) {
    throw unused();
  }

  private static UnsupportedOperationException unused() {
    return new UnsupportedOperationException("OkHttp connects the socket itself");
  }
}
