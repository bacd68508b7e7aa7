package dev.activator.loop;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A loop that is one of Netty's: channels registered with it run on the same thread. */
public final class NettyLoop implements Loop {
  private final EventLoop eventLoop;

  public NettyLoop(EventLoop eventLoop) {
    this.eventLoop = eventLoop;
  }

  /** Where channels that belong with this loop's state are registered. */
  public EventLoop eventLoop() {
    return eventLoop;
  }

  @Override
  public void execute(Runnable task) {
    eventLoop.execute(new GuardedTask(task));
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    var future = eventLoop.schedule(new GuardedTask(task), delay.toNanos(), TimeUnit.NANOSECONDS);
    return () -> future.cancel(false);
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }
}
