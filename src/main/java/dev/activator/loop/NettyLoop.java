package dev.activator.loop;

import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;

/** A loop on a Netty event loop: channels registered there run on its thread. */
public class NettyLoop extends ExecutorLoop {
  private final EventLoop eventLoop;

  public NettyLoop(EventLoop eventLoop) {
    super(eventLoop);
    this.eventLoop = eventLoop;
  }

  public final EventLoop eventLoop() {
    return eventLoop;
  }

  /** The transport of the connections that this loop opens. */
  public NettyTransport transport() {
    return NettyTransport.of(eventLoop);
  }

  /** A socket for a connection that this loop opens. */
  public SocketChannel newSocket() {
    return transport().newSocket();
  }
}
