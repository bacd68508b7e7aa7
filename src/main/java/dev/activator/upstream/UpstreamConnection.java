package dev.activator.upstream;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;

import org.jspecify.annotations.Nullable;

/**
 * A connection to a pod: lent to one listener at a time, idle in its pool in between.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 *
 * <p>
 * <b>Errors.</b> The listener hears of them. Bytes that come while the connection is idle, or its
 * end, take it out of the pool.
 */
// What cannot be written or closed ends the connection, and the listener hears of that.
@SuppressWarnings("FutureReturnValueIgnored")
public final class UpstreamConnection extends ChannelInboundHandlerAdapter {
  private static final int TCP_ESTABLISHED = 1;

  private final Channel channel;
  private final UpstreamPool pool;
  private final ResponseDecoder decoder;
  @Nullable UpstreamConnection older;
  @Nullable UpstreamConnection newer;
  private long idleSince;
  private @Nullable UpstreamListener listener;
  private @Nullable Throwable broken;
  private boolean idle;
  private boolean reused;
  private boolean interim;
  private boolean requestEnded;
  private boolean responseEnded;
  private boolean persistent;

  private UpstreamConnection(Channel channel, UpstreamPool pool, UpstreamListener listener) {
    this.channel = channel;
    this.pool = pool;
    this.listener = listener;
    this.decoder = channel.pipeline().get(ResponseDecoder.class);
  }

  static void addCodecs(ChannelPipeline pipeline) {
    pipeline.addLast(new ResponseDecoder());
    pipeline.addLast(new RequestEncoder());
  }

  /** Takes over a channel that is connected, and hands it to the listener. */
  static void open(Channel channel, UpstreamPool pool, UpstreamListener listener) {
    var connection = new UpstreamConnection(channel, pool, listener);
    channel.pipeline().addLast(connection);
    channel.closeFuture().addListener(_ -> pool.gone());
    listener.connected(connection);
  }

  /** Sends a part of the request; it leaves with the next flush at the latest. */
  public void write(HttpObject part) {
    if (part instanceof HttpRequest request) {
      decoder.asked(request.method());
    }
    if (part instanceof LastHttpContent) {
      requestEnded = true;
    }
    channel.write(part, channel.voidPromise());
  }

  public void flush() {
    channel.flush();
  }

  /** Whether more may be written without piling up. */
  public boolean isWritable() {
    return channel.isWritable();
  }

  /** Whether it served another request before: then it may be dead, and not have noticed. */
  public boolean reused() {
    return reused;
  }

  public void pauseReading() {
    channel.config().setAutoRead(false);
  }

  public void resumeReading() {
    channel.config().setAutoRead(true);
  }

  /** Back into the pool where it can serve another request; closed where it cannot. */
  public void release() {
    listener = null;
    if (responseEnded && requestEnded && persistent && channel.isActive()) {
      resumeReading();
      idle = pool.giveBack(this);
    }
    if (!idle) {
      close();
    }
  }

  /** Ends it, whatever it is doing. The listener hears nothing more. */
  public void close() {
    listener = null;
    leavePool();
    channel.close();
  }

  void lend(UpstreamListener to) {
    listener = to;
    idle = false;
    reused = true;
    requestEnded = false;
    responseEnded = false;
    persistent = false;
  }

  void idleSince(long nanoTime) {
    idleSince = nanoTime;
  }

  long idleSince() {
    return idleSince;
  }

  /** Whether the kernel has heard of the connection's end. */
  boolean peerHasClosed() {
    if (!channel.isActive()) {
      return true;
    }
    try {
      return channel instanceof EpollSocketChannel socket
          && socket.tcpInfo(new EpollTcpInfo()).state() != TCP_ESTABLISHED;
    } catch (ChannelException closedAlready) {
      return true;
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    var to = listener;
    if (to == null || responseEnded) {
      ReferenceCountUtil.release(message);
      close();
    } else if (((HttpObject) message).decoderResult().isFailure()) {
      var cause = ((HttpObject) message).decoderResult().cause();
      ReferenceCountUtil.release(message);
      close();
      to.failed(cause instanceof PrematureChannelClosureException
          ? UpstreamFailure.CLOSED
          : UpstreamFailure.MALFORMED);
    } else if (message instanceof HttpResponse head) {
      read(to, head);
    } else {
      read(to, (HttpContent) message);
    }
  }

  private void read(UpstreamListener to, HttpResponse head) {
    interim = head.status().codeClass() == HttpStatusClass.INFORMATIONAL
        && !head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
    if (interim) {
      to.interim(head);
    } else {
      persistent = HttpUtil.isKeepAlive(head);
      to.head(head);
    }
  }

  private void read(UpstreamListener to, HttpContent content) {
    if (interim) {
      // The decoder ends each message with a last content, a 1xx too.
      interim = false;
      content.release();
    } else {
      responseEnded = content instanceof LastHttpContent;
      to.content(content);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (listener != null) {
      listener.readComplete();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (listener != null) {
      listener.writabilityChanged();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    broken = cause;
    context.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    leavePool();
    var told = listener;
    listener = null;
    if (told != null && !responseEnded) {
      told.failed(UpstreamFailure.of(broken));
    }
  }

  private void leavePool() {
    if (idle) {
      idle = false;
      pool.drop(this);
    }
  }
}
