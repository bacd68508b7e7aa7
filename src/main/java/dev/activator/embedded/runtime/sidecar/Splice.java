package dev.activator.embedded.runtime.sidecar;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;

/** One side of two connections that were joined: its bytes go to the other, in both directions. */
@SuppressWarnings("FutureReturnValueIgnored") // What fails ends the channel, and that is noticed.
final class Splice extends ChannelInboundHandlerAdapter {
  private final Channel other;

  private Splice(Channel other) {
    this.other = other;
  }

  /** From now on neither connection speaks HTTP. */
  static void join(Channel caller, Channel process) {
    replaceHandlers(caller, new Splice(process));
    replaceHandlers(process, new Splice(caller));
    caller.config().setAutoRead(true);
    process.config().setAutoRead(true);
  }

  private static void replaceHandlers(Channel channel, Splice splice) {
    var handlers = new ArrayList<ChannelHandler>(channel.pipeline().toMap().values());
    channel.pipeline().addLast(splice);
    // The exchange's own goes first: a codec that goes passes on the bytes it has not read yet.
    channel.pipeline().remove(handlers.removeLast());
    handlers.forEach(channel.pipeline()::remove);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof ByteBuf) {
      other.writeAndFlush(message);
      context.channel().config().setAutoRead(other.isWritable());
    } else {
      ReferenceCountUtil.release(message);
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    other.config().setAutoRead(context.channel().isWritable());
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    other.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }
}
