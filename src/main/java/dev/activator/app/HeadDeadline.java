package dev.activator.app;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection whose request has not begun in time: one that says nothing, or very slowly, is
 * not kept.
 *
 * <p>
 * <b>Threads.</b> Confined to the connection's event loop.
 */
final class HeadDeadline extends ChannelInboundHandlerAdapter {
  private final Duration timeout;
  private @Nullable Future<?> deadline;

  HeadDeadline(Duration timeout) {
    this.timeout = timeout;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    deadline = context.executor().schedule(() -> {
      var _ = context.close();
    }, timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpRequest) {
      end();
    }
    context.fireChannelRead(message);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    end();
  }

  private void end() {
    if (deadline != null) {
      deadline.cancel(false);
    }
  }
}
