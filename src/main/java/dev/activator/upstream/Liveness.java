package dev.activator.upstream;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;

/**
 * What the kernel knows of connections, and their event loop may not have read yet.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
final class Liveness {
  private static final int TCP_ESTABLISHED = 1;

  /** Where the kernel writes its answer: many times a request's share, so one is kept. */
  private final EpollTcpInfo answer = new EpollTcpInfo();

  /** Whether the kernel has heard of its end; false where it cannot be asked. */
  boolean peerHasClosed(Channel channel) {
    if (!channel.isActive()) {
      return true;
    }
    try {
      return channel instanceof EpollSocketChannel socket
          && socket.tcpInfo(answer).state() != TCP_ESTABLISHED;
    } catch (ChannelException closedAlready) {
      return true;
    }
  }
}
