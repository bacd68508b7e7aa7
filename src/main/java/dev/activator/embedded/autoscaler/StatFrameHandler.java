package dev.activator.embedded.autoscaler;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The end of one activator's connection: binary frames are read, others are logged. */
@SuppressWarnings("FutureReturnValueIgnored") // What fails ends the channel, and that is noticed.
final class StatFrameHandler extends SimpleChannelInboundHandler<WebSocketFrame> {
  private static final Logger log = LoggerFactory.getLogger(StatFrameHandler.class);

  private final StatFrames frames;

  StatFrameHandler(StatFrames frames) {
    this.frames = frames;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
    if (frame instanceof BinaryWebSocketFrame) {
      frames.accept(frame.content().nioBuffer());
    } else {
      log.error("Only binary frames carry statistics, not a {}", frame.getClass().getSimpleName());
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    log.debug("A connection of {} failed", context.channel().remoteAddress(), cause);
    context.close();
  }
}
