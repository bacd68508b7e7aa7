package dev.activator.proxy;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets new connections wait in the kernel while the loops have enough of them to begin with. A loop
 * begins with all that it was given once a turn, and those that are served already wait meanwhile: in a
 * flood, for all that could be accepted.
 *
 * <p><b>Threads.</b> That of the port that listens; connections' loops count down.
 */
final class AcceptPace extends ChannelInboundHandlerAdapter {
  private static final int AT_ONCE_PER_LOOP = 4;

  private final int atOnce;
  /** Accepted, and not begun with. */
  private final AtomicInteger waiting = new AtomicInteger();

  AcceptPace(int loops) {
    this.atOnce = loops * AT_ONCE_PER_LOOP;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object connection) {
    if (waiting.incrementAndGet() == atOnce) {
      context.channel().config().setAutoRead(false);
    }
    context.fireChannelRead(connection);
    Runnable begun = () -> begun(context.channel());
    try {
      // Behind the task that registers it.
      ((Channel) connection).eventLoop().execute(begun);
    } catch (RejectedExecutionException | IllegalStateException e) {
      // Its loop has ended, or it could not be registered.
      begun.run();
    }
  }

  private void begun(Channel listening) {
    if (waiting.decrementAndGet() == atOnce / 2 && listening.isOpen()) {
      // As a task it comes behind the pause.
      listening.eventLoop().execute(() -> listening.config().setAutoRead(true));
    }
  }
}
