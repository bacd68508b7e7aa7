package dev.activator.kube.reflector;

import dev.activator.http.OkHttpSocketFactory;
import java.io.IOException;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes sockets with TCP keep-alive, which detects a dead peer within 19 seconds. A watch may be
 * silent for a minute, and HTTP/1.1 has no pings: a watch that is dead beside others that work is
 * found by nothing else, and requests may wait for its news.
 *
 * <p><b>Threads.</b> Any.
 */
final class KeepAliveSockets extends OkHttpSocketFactory {
  private static final Logger log = LoggerFactory.getLogger(KeepAliveSockets.class);
  private static final Duration IDLE = Duration.ofSeconds(10);
  private static final Duration INTERVAL = Duration.ofSeconds(3);
  private static final int PROBES = 3;

  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

  @Override
  public Socket createSocket() throws IOException {
    sockets.removeIf(Socket::isClosed);
    var socket = new Socket();
    sockets.add(socket);
    socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    // Not every system supports these options.
    var supported = socket.supportedOptions();
    if (supported.contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
      socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, (int) IDLE.toSeconds());
      socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, (int) INTERVAL.toSeconds());
      socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, PROBES);
    }
    return socket;
  }

  void closeAll() {
    sockets.forEach(socket -> {
      sockets.remove(socket);
      try {
        socket.close();
      } catch (IOException e) {
        log.debug("A connection cannot be closed", e);
      }
    });
  }
}
