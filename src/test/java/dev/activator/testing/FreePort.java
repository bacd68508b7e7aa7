package dev.activator.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports on which nothing listens. Each is given once, and from below those that the kernel and the embedded
 * runtime give: no test next to this one comes to listen or to call from there.
 */
public final class FreePort {
  private static final int FIRST = 10_000;
  private static final int COUNT = 10_000;
  private static final AtomicInteger given = new AtomicInteger(
      ThreadLocalRandom.current().nextInt(COUNT));

  private FreePort() {}

  public static int next() {
    while (true) {
      int port = FIRST + given.getAndIncrement() % COUNT;
      // Another process may have it. It does not listen, as a program that another test starts now would go on.
      try (var free = SocketChannel.open()) {
        free.setOption(StandardSocketOptions.SO_REUSEADDR, true).bind(new InetSocketAddress(port));
        return port;
      } catch (IOException taken) {
        continue;
      }
    }
  }

  /** Listens on such a port of the loopback address: nothing has it once this is closed. */
  static ServerSocket listen(int backlog) {
    while (true) {
      try {
        return new ServerSocket(next(), backlog, InetAddress.getLoopbackAddress());
      } catch (IOException taken) {
        // By another process, since it was looked at.
        continue;
      }
    }
  }
}
