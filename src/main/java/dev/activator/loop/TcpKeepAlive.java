package dev.activator.loop;

import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import java.time.Duration;
import java.util.Map;
import jdk.net.ExtendedSocketOptions;

/**
 * The settings of TCP keep-alive: when the kernel probes a silent connection. Linux waits two hours
 * by default.
 *
 * <p><b>Units.</b> Whole seconds.
 *
 * @param idle the time before the first probe
 * @param interval the time between probes
 * @param probes the number of consecutive unanswered probes that ends the connection
 */
public record TcpKeepAlive(Duration idle, Duration interval, int probes) {
  /**
   * Notices a vanished pod within 20 seconds.
   *
   * <p><b>Source.</b> {@code dialBackOffHelper} in Knative's {@code pkg/network/transports.go}: 5
   * s.
   */
  public static final TcpKeepAlive TO_PODS = new TcpKeepAlive(Duration.ofSeconds(5),
      Duration.ofSeconds(5), 3);

  /**
   * Notices a vanished caller within a minute.
   *
   * <p><b>Source.</b> {@code net.ListenConfig} in Go: 15 s, but nine probes.
   */
  public static final TcpKeepAlive FROM_CALLERS = new TcpKeepAlive(Duration.ofSeconds(15),
      Duration.ofSeconds(15), 3);

  /** The channel options without {@code SO_KEEPALIVE}. */
  public Map<ChannelOption<Integer>, Integer> options(NettyTransport transport) {
    int first = (int) idle.toSeconds();
    int next = (int) interval.toSeconds();
    return transport.socket() == EpollSocketChannel.class
        ? Map.of(EpollChannelOption.TCP_KEEPIDLE, first, EpollChannelOption.TCP_KEEPINTVL, next,
            EpollChannelOption.TCP_KEEPCNT, probes)
        : Map.of(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), first,
            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL), next,
            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), probes);
  }
}
