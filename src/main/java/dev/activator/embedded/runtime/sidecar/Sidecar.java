package dev.activator.embedded.runtime.sidecar;

import dev.activator.embedded.LoopbackPorts;
import dev.activator.embedded.Sockets;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes the requests of one pod and passes them to its process, never more at once than the
 * revision allows; answers the probes of activators; drains.
 *
 * <p>
 * <b>Threads.</b> Public methods may be called from any; everything happens, and every callback
 * comes, on the sidecar's own loop.
 *
 * <p>
 * <b>Source.</b> {@code cmd/queue} and {@code pkg/queue} in Knative Serving. Draining waits for half
 * a second without requests instead of thirty.
 */
@SuppressWarnings("FutureReturnValueIgnored") // What fails ends the channel, and that is noticed.
public final class Sidecar {
  private static final Duration QUIET = Duration.ofMillis(500);
  private static final int PORTS_TRIED = 20;

  private final Sockets sockets;
  private final NettyLoop loop;
  private final LoopbackPorts ports;
  private final SidecarSettings settings;
  private final Slots slots;
  private final UserCheck check;
  private final ProcessConnections connections;
  private final ChannelGroup callers;
  private @Nullable Channel listener;
  private @Nullable Runnable drained;
  private Loop.@Nullable Timer quiet;
  private boolean draining;
  private boolean closed;
  private int inFlight;

  /**
   * A sidecar that does not listen yet.
   *
   * @param ports to listen on one of
   */
  public Sidecar(Sockets sockets, NettyLoop loop, LoopbackPorts ports, SidecarSettings settings) {
    var process = new InetSocketAddress(InetAddress.getLoopbackAddress(), settings.processPort());
    this.sockets = sockets;
    this.loop = loop;
    this.ports = ports;
    this.settings = settings;
    this.slots = new Slots(settings.containerConcurrency());
    this.check = new UserCheck(loop, settings.probe(),
        new ProcessAttempts(sockets, loop, process, settings.probe()));
    this.connections = new ProcessConnections(sockets, loop, process);
    this.callers = new DefaultChannelGroup(loop.eventLoop(), true);
  }

  /**
   * Begins to listen on a free port of the loopback address, and says on which. What failed may be
   * tried again.
   */
  public void open(IntConsumer listening, Consumer<Throwable> failed) {
    loop.execute(() -> open(PORTS_TRIED, listening, failed));
  }

  /** Whether the process takes requests; the answer may take ten seconds. */
  public void check(Consumer<Boolean> ready) {
    loop.execute(() -> check.ask(ready));
  }

  /**
   * From now on probes fail. Says once there was no request for half a second, or the time is up.
   */
  public void drain(Duration limit, Runnable then) {
    loop.execute(() -> {
      draining = true;
      drained = then;
      loop.schedule(limit, this::drained);
      watchForQuiet();
    });
  }

  /** Ends everything at once. */
  public void close() {
    loop.execute(() -> {
      closed = true;
      check.stop();
      if (listener != null) {
        listener.close();
      }
      callers.close();
      connections.close();
    });
  }

  @Override
  public String toString() {
    return settings.pod();
  }

  Slots slots() {
    return slots;
  }

  UserCheck check() {
    return check;
  }

  ProcessConnections connections() {
    return connections;
  }

  boolean draining() {
    return draining;
  }

  void began() {
    inFlight++;
    if (quiet != null) {
      quiet.cancel();
      quiet = null;
    }
  }

  void ended() {
    inFlight--;
    watchForQuiet();
  }

  private void open(int tries, IntConsumer listening, Consumer<Throwable> failed) {
    int port;
    try {
      port = ports.next();
    } catch (RuntimeException none) {
      failed.accept(none);
      return;
    }
    server().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
        .addListener((ChannelFuture bound) -> {
          if (bound.isSuccess()) {
            opened(bound.channel(), listening);
          } else if (tries > 1) {
            // Somebody took the port between the look at it and this.
            open(tries - 1, listening, failed);
          } else {
            failed.accept(bound.cause());
          }
        });
  }

  private ServerBootstrap server() {
    return sockets.server(loop.eventLoop()).childHandler(new ChannelInitializer<Channel>() {
      @Override
      protected void initChannel(Channel connection) {
        callers.add(connection);
        connection.pipeline().addLast(new ProtocolDetector(Sidecar.this));
      }
    });
  }

  private void opened(Channel channel, IntConsumer listening) {
    if (closed) {
      channel.close();
    } else {
      listener = channel;
      listening.accept(Sockets.port(channel));
    }
  }

  private void watchForQuiet() {
    if (drained != null && inFlight == 0) {
      quiet = loop.schedule(QUIET, this::drained);
    }
  }

  private void drained() {
    var then = drained;
    drained = null;
    if (then != null) {
      then.run();
    }
  }
}
