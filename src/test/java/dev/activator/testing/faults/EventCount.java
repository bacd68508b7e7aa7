package dev.activator.testing.faults;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import java.nio.channels.ClosedChannelException;

/**
 * Does something once this many events of a watch were sent: lines of a body, or messages.
 *
 * <p><b>Threads.</b> Lives on its channel's thread.
 */
final class EventCount extends ChannelOutboundHandlerAdapter {
  private final GenericFutureListener<Future<Void>> action;
  private int left;

  EventCount(int events, Runnable action) {
    this.left = events;
    this.action = _ -> action.run();
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (left == 0 && message instanceof HttpResponse
        || left > 0 && message instanceof TextWebSocketFrame && --left == 0) {
      left = -1;
      ctx.writeAndFlush(message, promise.unvoid()).addListener(action);
    } else if (left > 0 && message instanceof ByteBuf lines) {
      lines(ctx, lines, promise);
    } else if (left > 0 && message instanceof HttpContent content
        && !(message instanceof LastHttpContent)) {
      lines(ctx, content.content(), promise);
    } else {
      ctx.write(message, promise);
    }
  }

  /** Events are written many at a time: what follows the last that counts waits for the action. */
  private void lines(ChannelHandlerContext ctx, ByteBuf lines, ChannelPromise promise) {
    int end = lines.readerIndex();
    while (left > 0) {
      int length = lines.bytesBefore(end, lines.writerIndex() - end, (byte) '\n');
      if (length < 0) {
        ctx.write(lines, promise);
        return;
      }
      end += length + 1;
      left--;
    }
    left = -1;
    var whole = promise.unvoid();
    var counted = lines.readRetainedSlice(end - lines.readerIndex());
    ctx.writeAndFlush(counted, ctx.newPromise()).addListener(action)
        .addListener(_ -> rest(ctx, lines, whole));
  }

  private static void rest(ChannelHandlerContext ctx, ByteBuf rest, ChannelPromise promise) {
    if (!rest.isReadable()) {
      ReferenceCountUtil.release(rest);
      promise.trySuccess();
    } else if (ctx.channel().isActive()) {
      ctx.writeAndFlush(rest, promise);
    } else {
      ReferenceCountUtil.release(rest);
      promise.tryFailure(new ClosedChannelException());
    }
  }
}
