package dev.activator.proxy;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.DuplexChannel;

/** A caller's connection, which can stop to take what is written. */
final class CallerChannel extends EmbeddedChannel implements DuplexChannel {
  boolean takes = true;
  private boolean outputShutdown;

  @Override
  protected void doWrite(ChannelOutboundBuffer in) throws Exception {
    if (takes) {
      super.doWrite(in);
    }
  }

  @Override
  public boolean isInputShutdown() {
    return !isOpen();
  }

  @Override
  public ChannelFuture shutdownInput() {
    return shutdownInput(newPromise());
  }

  @Override
  public ChannelFuture shutdownInput(ChannelPromise promise) {
    return promise.setSuccess();
  }

  @Override
  public boolean isOutputShutdown() {
    return outputShutdown;
  }

  @Override
  public ChannelFuture shutdownOutput() {
    return shutdownOutput(newPromise());
  }

  @Override
  public ChannelFuture shutdownOutput(ChannelPromise promise) {
    outputShutdown = true;
    return promise.setSuccess();
  }

  @Override
  public boolean isShutdown() {
    return !isOpen();
  }

  @Override
  public ChannelFuture shutdown() {
    return close();
  }

  @Override
  public ChannelFuture shutdown(ChannelPromise promise) {
    return close(promise);
  }
}
