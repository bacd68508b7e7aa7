package dev.activator.embedded;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/**
 * Ports of the loopback address that nobody listens on, for programs that are told theirs before
 * they start and for what stands in front of them.
 *
 * <p>
 * They lie below those that systems give to whoever asks for any: such a port may be somebody
 * else's before the program listens, and a connection that leaves from it for itself is taken. They
 * also lie below Kubernetes' node ports. Each is followed by the next, from a random one on, so
 * that several processes of a machine hardly ever choose the same at the same time.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in.
 */
public final class LoopbackPorts {
  private static final int FIRST = 20_000;
  private static final int COUNT = 10_000;

  private final AtomicInteger following;
  private final Listening listening;

  public LoopbackPorts(RandomGenerator random) {
    this(random, port -> new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
  }

  /** Ports that are free where this can listen on them. */
  public LoopbackPorts(RandomGenerator random, Listening listening) {
    this.following = new AtomicInteger(random.nextInt(COUNT));
    this.listening = listening;
  }

  /** Listens on a port, until it is closed. */
  @FunctionalInterface
  public interface Listening {
    /** Throws a {@link BindException} where the port is taken. */
    Closeable on(int port) throws IOException;
  }

  /**
   * A port that nobody listens on now; the others come before it is given again.
   *
   * <p>
   * <b>Errors.</b> Throws when every one of them is taken, and an {@link UncheckedIOException} at
   * once when that cannot be told, as where this process has too many files open.
   */
  public int next() {
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
