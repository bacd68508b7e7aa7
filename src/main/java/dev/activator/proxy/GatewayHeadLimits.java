package dev.activator.proxy;

import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import dev.activator.proxy.exchange.HeldBytes;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import java.time.Duration;

/**
 * Limits the heads of a gateway's HTTP/1 connection in time, from its first byte, and in memory while they are incomplete.
 * The first one must come in time, too. It leaves the connection once that has switched to HTTP/2.
 */
final class GatewayHeadLimits extends ChannelInboundHandlerAdapter {
  private final Duration timeout;
  private final DeadlineTimer timer;
  private final HeldBytes.PartialHead partial;
  private final ChannelPipeline pipeline;
  private final Decoded decoded = new Decoded();
  private boolean awaited = true;
  private boolean withinMessage;
  /** Of the incomplete head. */
  private int bytes;

  private GatewayHeadLimits(ChannelPipeline pipeline, Loop loop, HeldBytes.Share held,
      Duration timeout) {
    this.pipeline = pipeline;
    this.timeout = timeout;
    this.timer = new DeadlineTimer(loop, this::close);
    this.partial = held.partialHead(this::close);
  }

  /** @param afterDecoder the name of the handler that takes what is decoded */
  static void limit(ChannelPipeline pipeline, String afterDecoder, Loop loop,
      HeldBytes.Share held, Duration timeout) {
    var heads = new GatewayHeadLimits(pipeline, loop, held, timeout);
    pipeline.addFirst(heads).addBefore(afterDecoder, null, heads.decoded);
    heads.timer.within(timeout);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    bytes += ((ByteBuf) message).readableBytes();
    context.fireChannelRead(message);
    if (pipeline.get(Http2ConnectionHandler.class) != null) {
      pipeline.remove(this);
    } else if (!withinMessage && bytes > 0) {
      if (!awaited) {
        awaited = true;
        timer.within(timeout);
      }
      partial.grew(HeldBytes.costOfHead(bytes, 0));
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    timer.cancel();
    partial.ended();
  }

  @SuppressWarnings("FutureReturnValueIgnored") // The end of the connection removes this handler.
  private void close() {
    if (pipeline.get(Http2ConnectionHandler.class) == null) {
      pipeline.close();
    }
  }

  private final class Decoded extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof HttpRequest) {
        withinMessage = true;
        awaited = false;
        timer.cancel();
        partial.ended();
      }
      if (message instanceof LastHttpContent) {
        withinMessage = false;
        bytes = 0;
      }
      context.fireChannelRead(message);
    }
  }
}
