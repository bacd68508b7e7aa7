package dev.activator.upstream;

import dev.activator.loop.Loop;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.ResettableTimer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks the open connections of a loop for pods that vanished without closing them. */
final class DeadConnectionDetector {
  interface Checked {
    Channel channel();

    /** Whether the connection was closed because the pod is gone. */
    boolean checked(TcpConnectionHealth state);
  }

  private static final Logger log = LoggerFactory.getLogger(DeadConnectionDetector.class);
  private static final int TCP_ESTABLISHED = 1;
  /** These checks take less than a millisecond. */
  private static final int CHECKS_PER_TURN = 256;

  private final Loop loop;
  private final Duration interval;
  private final ResettableTimer timer;
  private final Set<Checked> open = new HashSet<>();
  /** Reused, because the object is large. */
  private final EpollTcpInfo tcpInfo = new EpollTcpInfo();

  DeadConnectionDetector(Loop loop, Duration interval) {
    this.loop = loop;
    this.interval = interval;
    this.timer = new ResettableTimer(loop, this::check);
  }

  @SuppressWarnings("FutureReturnValueIgnored") // A close future does not fail.
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
    // It was closed in the meantime.
    if (!open.contains(connection)) {
      return;
    }
    var address = connection.channel().remoteAddress();
    if (connection.checked(stateOf(connection.channel())) && gone.add(address)) {
      log.warn("The pod at {} stopped responding; its requests end",
          NettyTransport.text(address));
    }
  }

  /** Whether the kernel reports the connection as open. */
  boolean isUsable(Channel connection) {
    return switch (stateOf(connection)) {
      case ALIVE, UNKNOWN -> true;
      case SILENT, CLOSED -> false;
    };
  }

  private TcpConnectionHealth stateOf(Channel connection) {
    if (!connection.isActive()) {
      return TcpConnectionHealth.CLOSED;
    }
    if (!(connection instanceof EpollSocketChannel socket)) {
      return TcpConnectionHealth.UNKNOWN;
    }
    try {
      var info = socket.tcpInfo(tcpInfo);
      return info.state() == TCP_ESTABLISHED
          ? TcpConnectionHealth.of(info.retransmits() + info.probes(),
              Math.min(info.lastAckRecv(), info.lastDataRecv()), interval.toMillis())
          : TcpConnectionHealth.CLOSED;
    } catch (ChannelException e) {
      return TcpConnectionHealth.CLOSED;
    }
  }

  /**
   * Whether the other end of a TCP connection is alive, according to the kernel.
   *
   * <p><b>Source.</b> {@code tcp_keepalive_timer} in Linux. {@code TCP_USER_TIMEOUT} is not used: it
   * also ends connections of pods that are alive and do not read.
   */
  enum TcpConnectionHealth {
    /** The kernel's state cannot be read. */
    UNKNOWN,
    /** All sent data is acknowledged, or something was received recently. */
    ALIVE,
    /** Neither retransmissions nor keep-alive probes were acknowledged, and nothing was received. */
    SILENT,
    CLOSED;

    /** The number of consecutive silent checks after which the pod counts as gone. */
    public static final int CHECKS_UNTIL_GONE = 3;

    /**
     * @param repeats retransmissions and probes since the last acknowledgement
     * @param silentMillis since something was received
     */
    public static TcpConnectionHealth of(int repeats, long silentMillis, long intervalMillis) {
      // A little less than the interval, because checks may run early.
      return repeats > 0 && silentMillis >= intervalMillis * 4 / 5 ? SILENT : ALIVE;
    }
  }
}
