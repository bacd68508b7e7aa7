package dev.activator.upstream;

import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether an address refuses connections, with a bare socket: no channel is made for it, and nothing is
 * registered. Attempts that are under way are checked together, once a millisecond.
 *
 * <p>Without Linux's native transport it finds out nothing.
 *
 * <p><b>Threads.</b> Confined to the loop.
 */
final class ConnectChecks {
  private static final long PERIOD_NANOS = 1_000_000;
  /** A live host of the same cluster refuses within this. */
  private static final long TIMEOUT_NANOS = 20_000_000;

  private enum State {
    CONNECTING,
    REFUSED,
    /** Connected, or failed in another way. */
    OTHER
  }

  private record Check(Socket socket, InetSocketAddress address, long deadlineNanos,
      Runnable refused, Runnable otherwise) {
    /** Begins to connect; called again, returns the result. */
    State connect() {
      try {
        return socket.connect(address) ? State.OTHER : State.CONNECTING;
      } catch (IOException e) {
        return UpstreamFailure.of(e) == UpstreamFailure.REFUSED ? State.REFUSED : State.OTHER;
      }
    }

    void end(State state) {
      try {
        socket.close();
      } catch (IOException e) {
        // It is closed all the same.
      }
      (state == State.REFUSED ? refused : otherwise).run();
    }
  }

  private final NettyLoop loop;
  private final boolean usesSockets;
  private final DeadlineTimer timer;
  private List<Check> connecting = new ArrayList<>();

  ConnectChecks(NettyLoop loop) {
    this.loop = loop;
    this.usesSockets = loop.transport().socket() == EpollSocketChannel.class;
    this.timer = new DeadlineTimer(loop, this::check);
  }

  /**
   * Runs one of the two, maybe before it returns.
   *
   * @param refused if nothing listens there
   * @param otherwise if something listens, or that is not known; the connection is closed
   */
  void check(Destination destination, Runnable refused, Runnable otherwise) {
    var address = Dialer.addressOf(destination);
    var socket = usesSockets && !address.isUnresolved() ? open() : null;
    if (socket == null) {
      otherwise.run();
      return;
    }
    var check = new Check(socket, address, loop.nanoTime() + TIMEOUT_NANOS, refused, otherwise);
    var begun = check.connect();
    // A host that is this one, or near, has answered already.
    var state = begun == State.CONNECTING ? check.connect() : begun;
    if (state == State.CONNECTING) {
      connecting.add(check);
      timer.within(PERIOD_NANOS);
    } else {
      check.end(state);
    }
  }

  private static @Nullable Socket open() {
    try {
      return Socket.newSocketStream();
    } catch (ChannelException e) {
      // The dial that follows reports it.
      return null;
    }
  }

  private void check() {
    var all = connecting;
    connecting = new ArrayList<>();
    long now = loop.nanoTime();
    for (var check : all) {
      var state = check.connect();
      if (state == State.CONNECTING && check.deadlineNanos - now > 0) {
        connecting.add(check);
      } else {
        check.end(state);
      }
    }
    if (!connecting.isEmpty()) {
      timer.within(PERIOD_NANOS);
    }
  }
}
