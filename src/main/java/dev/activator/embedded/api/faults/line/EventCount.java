package dev.activator.embedded.api.faults.line;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;

/**
 * Does something once so many events of a watch were sent: lines of a body, or messages.
 *
 * <p>
 * <b>Threads.</b> Lives on its channel's thread.
 */
final class EventCount extends ChannelOutboundHandlerAdapter {
  private final Runnable action;
  private int left;

  EventCount(int events, Runnable action) {
    this.left = events;
    this.action = action;
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    boolean due = left > 0
        ? ends(message) && --left == 0
        : left == 0 && message instanceof HttpResponse;
    if (!due) {
      ctx.write(message, promise);
      return;
    }
    left = -1;
    ctx.writeAndFlush(message, promise.unvoid()).addListener(_ -> action.run());
  }

  private static boolean ends(Object message) {
    return message instanceof TextWebSocketFrame
        || message instanceof HttpContent content && endsLine(content.content())
        || message instanceof ByteBuf bytes && endsLine(bytes);
  }

  private static boolean endsLine(ByteBuf bytes) {
    return bytes.isReadable() && bytes.getByte(bytes.writerIndex() - 1) == '\n';
  }
}
