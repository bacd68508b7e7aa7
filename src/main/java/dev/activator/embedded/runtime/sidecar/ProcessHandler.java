package dev.activator.embedded.runtime.sidecar;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpObject;
import io.netty.util.ReferenceCountUtil;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The end of one connection to the process, or of one stream of it. It serves one exchange at a
 * time, or rests.
 */
@SuppressWarnings("FutureReturnValueIgnored") // What fails ends the channel, and that is noticed.
final class ProcessHandler extends ChannelInboundHandlerAdapter {
  private @Nullable Channel channel;
  private @Nullable Exchange exchange;
  private @Nullable Runnable whenLost;

  /** What arrives from now on belongs to this exchange. */
  void attach(Exchange next) {
    exchange = next;
    whenLost = null;
  }

  /** Nothing should arrive from now on; says if the process ends the connection. */
  void rest(Runnable lost) {
    exchange = null;
    whenLost = lost;
    read();
  }

  ChannelFuture write(Object message) {
    return channel().writeAndFlush(message);
  }

  void read() {
    channel().read();
  }

  void close() {
    channel().close();
  }

  Channel channel() {
    return Objects.requireNonNull(channel, "not connected");
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    channel = context.channel();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (exchange != null && message instanceof HttpObject part) {
      exchange.answered(part);
    } else {
      ReferenceCountUtil.release(message);
      context.close();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    var ended = exchange;
    exchange = null;
    if (whenLost != null) {
      whenLost.run();
    }
    if (ended != null) {
      ended.processGone();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }
}
