package dev.activator.testing.faults;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;

/**
 * Does something once this many bytes were sent; none follow them.
 *
 * <p><b>Threads.</b> Lives on its channel's thread.
 */
final class ByteCount extends ChannelOutboundHandlerAdapter {
  private final Runnable action;
  private long left;
  private boolean done;

  ByteCount(long bytes, Runnable action) {
    this.left = bytes;
    this.action = action;
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (done || !(message instanceof ByteBuf bytes)) {
      ctx.write(message, promise);
      return;
    }
    if (bytes.readableBytes() < left) {
      left -= bytes.readableBytes();
      ctx.write(bytes, promise);
      return;
    }
    done = true;
    var first = bytes.readRetainedSlice((int) left);
    ctx.writeAndFlush(first).addListener(_ -> {
      action.run();
      rest(ctx, bytes, promise.unvoid());
    });
  }

  /** What is left goes on if the connection does: some faults end. */
  private static void rest(ChannelHandlerContext ctx, ByteBuf bytes, ChannelPromise promise) {
    if (ctx.channel().isActive()) {
      ctx.writeAndFlush(bytes, promise);
    } else {
      ReferenceCountUtil.release(bytes);
      promise.tryFailure(new ClosedChannelException());
    }
  }
}
