package dev.activator.testing.faults;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;

/**
 * Ends the connection where the answer ends, without saying that the answer does.
 *
 * <p><b>Threads.</b> Lives on its channel's thread.
 */
final class AnswerCut extends ChannelOutboundHandlerAdapter {
  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (message instanceof FullHttpResponse whole) {
      ctx.writeAndFlush(whole, promise.unvoid()).addListener(ChannelFutureListener.CLOSE);
    } else if (message instanceof LastHttpContent last) {
      var rest = last.content().isReadable() ? last.content().retain() : Unpooled.EMPTY_BUFFER;
      ReferenceCountUtil.release(last);
      ctx.writeAndFlush(rest, promise.unvoid()).addListener(ChannelFutureListener.CLOSE);
    } else {
      ctx.write(message, promise);
    }
  }
}
