package dev.activator.testing.faults;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Sends bytes few at a time, each time in a packet of its own as far as it depends on the sender.
 *
 * <p><b>Threads.</b> Lives on its channel's thread.
 */
final class Fragmenter extends ChannelOutboundHandlerAdapter {
  private final int bytes;
  private final Pause pause;
  private final FaultClock clock;
  private final UndoActions undoActions;
  private final Queue<Piece> pieces = new ArrayDeque<>();
  private boolean sending;
  private boolean healed;

  /** What waits: bytes, or without any, the end of the connection. */
  private record Piece(@Nullable ByteBuf bytes, ChannelPromise promise) {}

  Fragmenter(int bytes, Pause pause, FaultClock clock, UndoActions undoActions) {
    this.bytes = bytes;
    this.pause = pause;
    this.clock = clock;
    this.undoActions = undoActions;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    undoActions.add(() -> ctx.executor().execute(() -> healed = true));
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (message instanceof ByteBuf buffer && !(healed && pieces.isEmpty())) {
      pieces.add(new Piece(buffer, promise.unvoid()));
    } else {
      ctx.write(message, promise);
    }
  }

  @Override
  public void flush(ChannelHandlerContext ctx) {
    ctx.flush();
    if (!sending) {
      next(ctx);
    }
  }

  @Override
  public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
    pieces.add(new Piece(null, promise));
    if (!sending) {
      next(ctx);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    pieces.forEach(piece -> {
      ReferenceCountUtil.release(piece.bytes());
      piece.promise().tryFailure(new ClosedChannelException());
    });
    pieces.clear();
  }

  private void next(ChannelHandlerContext ctx) {
    var piece = pieces.peek();
    sending = piece != null;
    if (piece == null) {
      return;
    }
    var buffer = piece.bytes();
    if (buffer == null) {
      pieces.remove();
      ctx.close(piece.promise());
      return;
    }
    int length = healed ? buffer.readableBytes() : Math.min(bytes, buffer.readableBytes());
    if (length == buffer.readableBytes()) {
      pieces.remove();
      ctx.writeAndFlush(buffer, piece.promise());
    } else {
      ctx.writeAndFlush(buffer.readRetainedSlice(length));
    }
    clock.loop().schedule(clock.draw(pause), () -> ctx.executor().execute(() -> next(ctx)));
  }
}
