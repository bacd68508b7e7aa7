package dev.activator.ext.tcp;

import dev.activator.http.Tunnel;
import dev.activator.loop.NettyTransport;
import dev.activator.upstream.UpstreamFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageEncoder;
import org.jspecify.annotations.Nullable;

/**
 * The client's or the pod's side of a connection.
 *
 * <p><b>Threads.</b> Confined to its channel's loop.
 */
// A failed write or close ends the channel, and the connection is notified.
@SuppressWarnings("FutureReturnValueIgnored")
final class TcpSide extends ChannelInboundHandlerAdapter {
  private final Channel channel;
  private final Tunnel tunnel;
  private @Nullable TcpConnection connection;
  /** The first failure. */
  private @Nullable Throwable broken;

  TcpSide(Channel channel, TcpConnection connection) {
    this.channel = channel;
    this.connection = connection;
    this.tunnel = new Tunnel(channel);
    // See UpstreamFailure.leavesInput.
    channel.config().setAutoClose(false);
  }

  Channel channel() {
    return channel;
  }

  void write(HAProxyMessage header) {
    var pipeline = channel.pipeline().addFirst(HAProxyMessageEncoder.INSTANCE);
    channel.write(header, channel.voidPromise());
    pipeline.remove(HAProxyMessageEncoder.class);
  }

  void write(ByteBuf bytes) {
    channel.write(bytes, channel.voidPromise());
  }

  void flush() {
    channel.flush();
  }

  boolean isWritable() {
    return channel.isWritable();
  }

  boolean hasUnsent() {
    return NettyTransport.unsentBytes(channel) > 0;
  }

  void setReading(boolean reads) {
    channel.config().setAutoRead(reads);
  }

  void endOutput() {
    tunnel.endOutput();
  }

  /** Closes once the other end has been sent everything; it has ended what it sends. */
  void closeWhenSent() {
    connection = null;
    tunnel.unlessClosedInTime(() -> NettyTransport.reset(channel));
    tunnel.endOutput().addListener(_ -> channel.close());
  }

  /** Ends the output, and closes when the other end has had time to do so, too. */
  void closeGracefully() {
    connection = null;
    // What is read from now on is dropped; its end is noticed.
    setReading(true);
    tunnel.close();
  }

  /** Resets the connection once the other end has been sent everything. */
  void reset() {
    connection = null;
    // What is read from now on is dropped; its end is noticed.
    setReading(true);
    tunnel.unlessClosedInTime(() -> NettyTransport.reset(channel));
    channel.writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(_ -> tunnel.onceReceived(() -> NettyTransport.reset(channel)));
  }

  /** Closes at once; the connection goes on without it. */
  void abandon() {
    connection = null;
    channel.close();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    var bytes = (ByteBuf) message;
    if (connection == null) {
      bytes.release();
    } else {
      connection.read(this, bytes);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (connection != null) {
      connection.readComplete(this);
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (connection != null) {
      connection.writabilityChanged(this);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    // After a write that was reset, the kernel reports the end of the input as if it were in order.
    if (tunnel.endsInput(event) && connection != null && broken == null) {
      connection.inputEnded(this);
    }
    if (channel instanceof DuplexChannel both && both.isShutdown()) {
      // A write that failed has ended the output only.
      channel.close();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (broken == null) {
      broken = cause;
    }
    if (!UpstreamFailure.leavesInput(cause, UpstreamFailure.of(broken))) {
      channel.close();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    var former = connection;
    connection = null;
    if (former != null) {
      former.gone(this, UpstreamFailure.of(broken));
    }
  }
}
