package dev.activator.loop;

import io.netty.channel.EventLoop;

/** A loop on a Netty event loop: channels registered there run on its thread. */
public final class NettyLoop extends ExecutorLoop {
  private final EventLoop eventLoop;

  public NettyLoop(EventLoop eventLoop) {
    super(eventLoop);
    this.eventLoop = eventLoop;
  }

  public EventLoop eventLoop() {
    return eventLoop;
  }
}
