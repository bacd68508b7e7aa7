package dev.activator.upstream;

import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import dev.activator.upstream.policy.PeerState;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the open connections of a loop again and again, for pods that vanished without a word.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
final class PeerChecks {
  /** A connection to a pod. */
  interface Checked {
    Channel channel();

    /** Called at each check; whether it has ended, with its requests, because the pod is gone. */
    boolean checked(PeerState state);
  }

  private static final Logger log = LoggerFactory.getLogger(PeerChecks.class);
  private static final int TCP_ESTABLISHED = 1;
  /** Less than a millisecond of work, after which other tasks of the loop have their turn. */
  private static final int CHECKS_PER_TURN = 256;

  private final Loop loop;
  private final Duration interval;
  private final DeadlineTimer timer;
  private final Set<Checked> open = new HashSet<>();
  /** The kernel's answer: several times a request's share of memory, so it is reused. */
  private final EpollTcpInfo tcpInfo = new EpollTcpInfo();

  PeerChecks(Loop loop, Duration interval) {
    this.loop = loop;
    this.interval = interval;
    this.timer = new DeadlineTimer(loop, this::check);
  }

  /** Checks a connection until it is closed. */
  @SuppressWarnings("FutureReturnValueIgnored") // The future of the end does not fail.
  void add(Checked connection) {
    open.add(connection);
    connection.channel().closeFuture().addListener(_ -> open.remove(connection));
    if (!timer.isSet()) {
      timer.within(interval);
    }
  }

  private void check() {
    check(List.copyOf(open).iterator(), new HashSet<>());
  }

  private void check(Iterator<Checked> rest, Set<SocketAddress> gone) {
    for (int left = CHECKS_PER_TURN; left > 0 && rest.hasNext(); left--) {
      check(rest.next(), gone);
    }
    if (rest.hasNext()) {
      loop.schedule(Duration.ZERO, () -> check(rest, gone));
    } else if (!open.isEmpty()) {
      timer.within(interval);
    }
  }

  private void check(Checked connection, Set<SocketAddress> gone) {
    // One that was closed meanwhile has left the set.
    if (!open.contains(connection)) {
      return;
    }
    var address = connection.channel().remoteAddress();
    if (connection.checked(stateOf(connection.channel())) && gone.add(address)) {
      log.warn("The pod at {} stopped responding; its requests end",
          NetUtil.toSocketAddressString((InetSocketAddress) address));
    }
  }

  /** Whether a request may be sent on a connection, as far as the kernel knows. */
  boolean isUsable(Channel connection) {
    return switch (stateOf(connection)) {
      case ALIVE, UNKNOWN -> true;
      case SILENT, CLOSED -> false;
    };
  }

  private PeerState stateOf(Channel connection) {
    if (!connection.isActive()) {
      return PeerState.CLOSED;
    }
    if (!(connection instanceof EpollSocketChannel socket)) {
      return PeerState.UNKNOWN;
    }
    try {
      var info = socket.tcpInfo(tcpInfo);
      return info.state() == TCP_ESTABLISHED
          ? PeerState.of(info.retransmits() + info.probes(),
              Math.min(info.lastAckRecv(), info.lastDataRecv()), interval.toMillis())
          : PeerState.CLOSED;
    } catch (ChannelException closedAlready) {
      return PeerState.CLOSED;
    }
  }
}
