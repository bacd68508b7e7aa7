package dev.activator.embedded.runtime.sidecar;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Passes on one message for each read that was asked for, and remembers the wish until there is
 * one: a codec makes many messages of one buffer, and Netty forgets a read that brought none.
 *
 * <p>
 * When the connection ends, what had arrived is passed on at once: a server may answer and close.
 */
final class OneByOne extends ChannelDuplexHandler {
  private final Queue<Object> arrived = new ArrayDeque<>();
  private boolean wanted;
  private boolean passing;

  @Override
  public void read(ChannelHandlerContext context) {
    wanted = true;
    pass(context);
    if (wanted) {
      context.read();
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    arrived.add(message);
    pass(context);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (wanted) {
      context.read();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    passAll(context);
    context.fireChannelInactive();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (context.channel().isActive()) {
      passAll(context);
    } else {
      arrived.forEach(ReferenceCountUtil::release);
      arrived.clear();
    }
  }

  private void pass(ChannelHandlerContext context) {
    if (passing) {
      return;
    }
    passing = true;
    while (wanted && !arrived.isEmpty()) {
      wanted = false;
      context.fireChannelRead(arrived.remove());
    }
    passing = false;
  }

  private void passAll(ChannelHandlerContext context) {
    while (!arrived.isEmpty()) {
      context.fireChannelRead(arrived.remove());
    }
  }
}
