package dev.activator.cluster.reflector;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.time.Duration;
import javax.net.SocketFactory;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * Detects a dead peer within 45 seconds: a watch may be silent for a minute, and HTTP/1.1 has no
 * pings.
 *
 * <p>
 * <b>Source.</b> client-go's HTTP/2 health check: 30 s idle and 15 s for a ping.
 */
final class KeepAliveSockets extends SocketFactory {
  static final Duration IDLE = Duration.ofSeconds(30);
  static final Duration INTERVAL = Duration.ofSeconds(5);
  static final int PROBES = 3;

  @Override
  public Socket createSocket() throws IOException {
    var socket = new Socket();
    socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    // Not every system has these.
    var supported = socket.supportedOptions();
    if (supported.contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
      socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, (int) IDLE.toSeconds());
      socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, (int) INTERVAL.toSeconds());
      socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, PROBES);
    }
    return socket;
  }

  @Override
  public Socket createSocket(String host, int port) throws IOException {
    return connected(null, new InetSocketAddress(host, port));
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress from, int fromPort)
      throws IOException {
    return connected(new InetSocketAddress(from, fromPort), new InetSocketAddress(host, port));
  }

  @Override
  public Socket createSocket(InetAddress host, int port) throws IOException {
    return connected(null, new InetSocketAddress(host, port));
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort)
      throws IOException {
    return connected(new InetSocketAddress(from, fromPort), new InetSocketAddress(host, port));
  }

  private Socket connected(@Nullable InetSocketAddress from, InetSocketAddress to)
      throws IOException {
    var socket = createSocket();
    socket.bind(from);
    socket.connect(to);
    return socket;
  }
}
