package dev.activator.testing;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports on which nothing listens. Each is given once, and from below those that the kernel gives: no test next
 * to this one comes to listen or to call from there.
 */
public final class FreePort {
  private static final int FIRST = 20_000;
  private static final int COUNT = 12_000;
  private static final AtomicInteger given = new AtomicInteger(
      ThreadLocalRandom.current().nextInt(COUNT));

  private FreePort() {}

  public static int next() {
    while (true) {
      int port = FIRST + given.getAndIncrement() % COUNT;
      // Another process may have it.
      try (var free = new ServerSocket()) {
        free.bind(new InetSocketAddress(port));
        return port;
      } catch (IOException taken) {
        continue;
      }
    }
  }
}
