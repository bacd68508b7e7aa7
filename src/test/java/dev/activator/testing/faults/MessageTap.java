package dev.activator.testing.faults;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.util.ReferenceCountUtil;

/**
 * Changes the messages of a WebSocket.
 *
 * <p><b>Threads.</b> Lives on its channel's thread.
 */
final class MessageTap extends ChannelDuplexHandler {
  private final Fault.OnConnection fault;

  MessageTap(Fault.OnConnection fault) {
    this.fault = fault;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (fault instanceof Fault.IgnoredPings && message instanceof PingWebSocketFrame) {
      ReferenceCountUtil.release(message);
      ctx.read();
    } else {
      ctx.fireChannelRead(message);
    }
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    ctx.write(changed(message), promise);
  }

  private Object changed(Object message) {
    return switch (fault) {
      case Fault.BinaryMessages _ when message instanceof TextWebSocketFrame text ->
        new BinaryWebSocketFrame(text.content());
      case Fault.CloseCode(int code) when message instanceof CloseWebSocketFrame close -> {
        close.release();
        yield new CloseWebSocketFrame(code, "on purpose");
      }
      default -> message;
    };
  }
}
