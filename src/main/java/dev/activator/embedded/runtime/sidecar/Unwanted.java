package dev.activator.embedded.runtime.sidecar;

import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Closes a stream nobody asked for, such as one a process pushes. */
@Sharable
@SuppressWarnings("FutureReturnValueIgnored") // What fails ends the channel, and that is noticed.
final class Unwanted extends ChannelInboundHandlerAdapter {
  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    context.close();
  }
}
