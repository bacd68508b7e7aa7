package dev.activator.proxy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A handler that recognises HTTP/2 by the first four bytes of a connection, and then removes
 * itself.
 *
 * <p><b>Source.</b> RFC 9113, section 3.4.
 */
final class ProtocolSniffer extends ChannelInboundHandlerAdapter {
  private static final byte[] PREFACE = "PRI ".getBytes(StandardCharsets.US_ASCII);

  private final Runnable toHttp2;
  private ByteBuf first = Unpooled.EMPTY_BUFFER;

  /** @param toHttp2 replaces the handlers of HTTP/1 by one of HTTP/2 */
  ProtocolSniffer(Runnable toHttp2) {
    this.toHttp2 = toHttp2;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    var bytes = (ByteBuf) message;
    first = first.isReadable() ? Unpooled.wrappedBuffer(first, bytes) : bytes;
    var http2 = isHttp2(first);
    if (http2 != null) {
      if (http2) {
        toHttp2.run();
      }
      // Calls handlerRemoved, which passes the bytes to the next handler.
      context.pipeline().remove(this);
    }
  }

  /** Whether the bytes are the start of HTTP/2; null while undecided. */
  private static @Nullable Boolean isHttp2(ByteBuf bytes) {
    int length = Math.min(bytes.readableBytes(), PREFACE.length);
    for (int i = 0; i < length; i++) {
      if (bytes.getByte(bytes.readerIndex() + i) != PREFACE[i]) {
        return false;
      }
    }
    return length < PREFACE.length ? null : true;
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    var rest = first;
    first = Unpooled.EMPTY_BUFFER;
    if (context.channel().isActive() && rest.isReadable()) {
      context.fireChannelRead(rest);
    } else {
      rest.release();
    }
  }
}
