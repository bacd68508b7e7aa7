package dev.activator.embedded.runtime;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/**
 * Finds free ports of the loopback address, for programs that get their port before they start. The
 * ports are below the ephemeral ports, which another program could take before this one listens,
 * and below Kubernetes' node ports. The first port is random and the others follow it, so two
 * activators rarely choose the same port.
 *
 * <p><b>Threads.</b> Any.
 */
final class LoopbackPorts {
  private static final int FIRST = 20_000;
  private static final int COUNT = 10_000;

  private final AtomicInteger following;
  private final Listening listening;

  LoopbackPorts(RandomGenerator random) {
    this(random, port -> new ServerSocket(port, 1,
        InetAddress.ofLiteral(PodObjectBuilder.LOOPBACK)));
  }

  LoopbackPorts(RandomGenerator random, Listening listening) {
    this.following = new AtomicInteger(random.nextInt(COUNT));
    this.listening = listening;
  }

  @FunctionalInterface
  interface Listening {
    /** Listens on a port. Throws a {@link BindException} if the port is taken. */
    Closeable on(int port) throws IOException;
  }

  /**
   * Finds the next free port.
   *
   * @throws IllegalStateException if all ports are taken
   * @throws UncheckedIOException if this process cannot open a socket
   */
  int next() {
    for (int tried = 0; tried < COUNT; tried++) {
      int port = FIRST + Math.floorMod(following.getAndIncrement(), COUNT);
      if (isFree(port)) {
        return port;
      }
    }
    throw new IllegalStateException("no port of the loopback address from " + FIRST + " to "
        + (FIRST + COUNT - 1) + " is free");
  }

  private boolean isFree(int port) {
    try (var _ = listening.on(port)) {
      return true;
    } catch (BindException e) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot look for a free port of the loopback address: " + e.getMessage(), e);
    }
  }
}
