package dev.activator.testing.faults;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Holds a connection still: what goes in either direction, and its end, waits until it is released.
 * The other side sees a peer that is there and says nothing.
 *
 * <p><b>Threads.</b> Lives on its channel's thread.
 */
final class Stall extends ChannelDuplexHandler {
  private final Duration duration;
  private final FaultClock clock;
  private final UndoActions undoActions;
  private final Queue<Runnable> held = new ArrayDeque<>();
  private @Nullable Runnable remedy;
  private boolean released;

  Stall(Duration duration, FaultClock clock, UndoActions undoActions) {
    this.duration = duration;
    this.clock = clock;
    this.undoActions = undoActions;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    Runnable release = () -> ctx.executor().execute(() -> release(ctx));
    remedy = release;
    undoActions.add(release);
    clock.loop().schedule(duration, release);
  }

  @Override
  public void read(ChannelHandlerContext ctx) {
    hold(ctx::read);
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    hold(() -> ctx.write(message, promise));
  }

  @Override
  public void flush(ChannelHandlerContext ctx) {
    hold(ctx::flush);
  }

  @Override
  public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
    hold(() -> ctx.close(promise));
  }

  @Override
  public void disconnect(ChannelHandlerContext ctx, ChannelPromise promise) {
    hold(() -> ctx.disconnect(promise));
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    // Those who wait for what was held must learn that it will not be sent.
    release(ctx);
    ctx.fireChannelInactive();
  }

  private void hold(Runnable action) {
    if (released) {
      action.run();
    } else {
      held.add(action);
    }
  }

  private void release(ChannelHandlerContext ctx) {
    if (released) {
      return;
    }
    released = true;
    var known = remedy;
    if (known != null) {
      undoActions.forget(known);
    }
    held.forEach(Runnable::run);
    held.clear();
    if (!ctx.isRemoved()) {
      ctx.pipeline().remove(this);
    }
  }
}
