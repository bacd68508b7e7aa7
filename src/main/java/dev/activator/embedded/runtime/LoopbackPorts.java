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
 * Free ports of the loopback address, for programs that are told theirs before they start.
 *
 * <p>
 * They lie below the ephemeral ports: such a port could be taken before the program listens, and a
 * connection to it that happens to leave from it would succeed. They also lie below Kubernetes' node
 * ports. The first is random and the others follow, so that several activators on a machine hardly
 * ever choose the same port at the same time.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in.
 */
final class LoopbackPorts {
  private static final int FIRST = 20_000;
  private static final int COUNT = 10_000;

  private final AtomicInteger following;
  private final Listening listening;

  LoopbackPorts(RandomGenerator random) {
    this(random, port -> new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
  }

  /** A port is free if {@code listening} can listen on it. */
  LoopbackPorts(RandomGenerator random, Listening listening) {
    this.following = new AtomicInteger(random.nextInt(COUNT));
    this.listening = listening;
  }

  /** Listens on a port, until it is closed. */
  @FunctionalInterface
  interface Listening {
    /** Throws a {@link BindException} if the port is taken. */
    Closeable on(int port) throws IOException;
  }

  /**
   * A free port. The same port is returned again only after all others.
   *
   * <p>
   * <b>Errors.</b> Throws if all are taken, and an {@link UncheckedIOException} if that cannot be told,
   * as when this process has too many files open.
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
    } catch (BindException taken) {
      return false;
    } catch (IOException failure) {
      throw new UncheckedIOException(
          "cannot look for a free port of the loopback address: " + failure.getMessage(), failure);
    }
  }
}
