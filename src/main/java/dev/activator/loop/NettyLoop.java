package dev.activator.loop;

import io.netty.channel.EventLoop;

/** A loop that is one of Netty's event loops: the channels registered there run on its thread. */
public final class NettyLoop extends ExecutorLoop {
  private final EventLoop eventLoop;

  public NettyLoop(EventLoop eventLoop) {
    super(eventLoop);
    this.eventLoop = eventLoop;
  }

  /** Where to register channels whose handlers use this loop's state. */
  public EventLoop eventLoop() {
    return eventLoop;
  }
}
