package dev.activator.upstream;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;

/** What the kernel knows of a connection, and the event loop may not have read yet. */
final class Liveness {
  private static final int TCP_ESTABLISHED = 1;

  private Liveness() {}

  /** Whether the kernel has heard of its end; false where it cannot be asked. */
  static boolean peerHasClosed(Channel channel) {
    if (!channel.isActive()) {
      return true;
    }
    try {
      return channel instanceof EpollSocketChannel socket
          && socket.tcpInfo(new EpollTcpInfo()).state() != TCP_ESTABLISHED;
    } catch (ChannelException closedAlready) {
      return true;
    }
  }
}
