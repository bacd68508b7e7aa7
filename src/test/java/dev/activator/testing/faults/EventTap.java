package dev.activator.testing.faults;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Changes the events of one watch, and sends each of them late: lines of a body, or messages.
 *
 * <p><b>Threads.</b> Lives on its channel's thread.
 */
final class EventTap extends ChannelOutboundHandlerAdapter {
  private final UnaryOperator<byte[]> change;
  private final @Nullable Pause pause;
  private final FaultClock clock;
  private final Queue<Piece> pieces = new ArrayDeque<>();
  private boolean sending;

  /** What is to be written: an event, or another message that must not overtake one. */
  private record Piece(Object message, ChannelPromise promise) {}

  /**
   * A tap that changes events, or leaves them as they are.
   *
   * @param pause before each event; null for none
   */
  EventTap(UnaryOperator<byte[]> change, @Nullable Pause pause, FaultClock clock) {
    this.change = change;
    this.pause = pause;
    this.clock = clock;
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    var lines = message instanceof ByteBuf bytes
        ? bytes
        : message instanceof HttpContent content && !(message instanceof LastHttpContent)
            ? content.content()
            : null;
    if (message instanceof TextWebSocketFrame frame) {
      var changed = changed(frame.content());
      frame.release();
      add(ctx, new TextWebSocketFrame(changed), promise);
    } else if (lines == null) {
      add(ctx, message, promise);
    } else {
      var all = lines(lines);
      ReferenceCountUtil.release(message);
      for (int i = 0; i < all.size(); i++) {
        add(ctx, all.get(i), i == all.size() - 1 ? promise : ctx.newPromise());
      }
    }
    if (!sending) {
      next(ctx);
    }
  }

  private void add(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (pause == null) {
      ctx.write(message, promise);
    } else {
      pieces.add(new Piece(message, promise.unvoid()));
    }
    if (pause == null && ends(message)) {
      // The next answer on this connection is not this watch's.
      ctx.pipeline().remove(this);
    }
  }

  private List<ByteBuf> lines(ByteBuf bytes) {
    var lines = new ArrayList<ByteBuf>();
    while (bytes.isReadable()) {
      int length = bytes.bytesBefore((byte) '\n');
      if (length < 0) {
        lines.add(bytes.readBytes(bytes.readableBytes()));
      } else {
        lines.add(Unpooled.wrappedBuffer(changed(bytes.readSlice(length)),
            Unpooled.wrappedBuffer(new byte[]{'\n'})));
        bytes.skipBytes(1);
      }
    }
    return lines.isEmpty() ? List.of(Unpooled.EMPTY_BUFFER) : lines;
  }

  private ByteBuf changed(ByteBuf event) {
    return Unpooled.wrappedBuffer(change.apply(ByteBufUtil.getBytes(event)));
  }

  /** The answer to a WebSocket's handshake ends nothing. */
  private static boolean ends(Object message) {
    return message instanceof LastHttpContent && !(message instanceof FullHttpResponse whole
        && whole.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS));
  }

  /** Sends what waits, each event after its pause. */
  private void next(ChannelHandlerContext ctx) {
    var piece = pieces.peek();
    sending = piece != null;
    if (piece == null || pause == null) {
      return;
    }
    boolean event = piece.message() instanceof ByteBuf
        || piece.message() instanceof TextWebSocketFrame;
    if (event) {
      clock.loop().schedule(clock.draw(pause), () -> ctx.executor().execute(() -> send(ctx)));
    } else {
      send(ctx);
    }
  }

  private void send(ChannelHandlerContext ctx) {
    var piece = pieces.poll();
    if (piece == null) {
      return;
    }
    ctx.writeAndFlush(piece.message(), piece.promise());
    if (ends(piece.message())) {
      ctx.pipeline().remove(this);
    } else {
      next(ctx);
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    pieces.forEach(piece -> {
      ReferenceCountUtil.release(piece.message());
      piece.promise().tryFailure(new ClosedChannelException());
    });
    pieces.clear();
  }
}
