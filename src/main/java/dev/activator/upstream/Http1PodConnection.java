package dev.activator.upstream;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.HopByHopFields;
import dev.activator.http.Http1Encoder.RequestEncoder;
import dev.activator.http.KnownHeader;
import dev.activator.http.ReadTurn;
import dev.activator.http.Tunnel;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.NettyTransport;
import dev.activator.upstream.DeadConnectionDetector.TcpConnectionHealth;
import dev.activator.upstream.LoopConnectionPools.Http1Pool;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1 connection to a pod. It is lent to one listener at a time, and is idle in its pool in
 * between. If bytes arrive while it is idle, it is closed.
 *
 * <p><b>Errors.</b> {@link UpstreamListener#failed} reports them.
 */
// A failed write or close ends the connection, and the listener is notified.
@SuppressWarnings("FutureReturnValueIgnored")
final class Http1PodConnection extends ChannelInboundHandlerAdapter
    implements UpstreamConnection, DeadConnectionDetector.Checked {
  /** Schemes that may authenticate a connection instead of a request: SPNEGO, which has NTLM, too. */
  private static final List<String> CONNECTION_SCHEMES = List.of("Negotiate", "NTLM", "Nego2");

  private final Channel channel;
  private final Http1Pool pool;
  private final Http1ResponseDecoder decoder;
  private final HopByHopFields trailers = new HopByHopFields();
  private final ReadTurn turn;
  private final boolean overTls;
  private long idleSince;
  private @Nullable UpstreamListener listener;
  private @Nullable Throwable broken;
  private @Nullable ChannelFuture headWritten;
  private boolean idle;
  private boolean reused;
  private boolean interim;
  private boolean requestEnded;
  private boolean responseEnded;
  private boolean persistent;
  /** Whether the pod may know the caller by this connection, so that no other may have it. */
  private boolean authenticated;
  /** Null until the pod switches protocols. */
  private @Nullable Tunnel tunnel;
  private boolean closeNotified;
  private boolean paused;
  private int silentChecks;

  private Http1PodConnection(Channel channel, Http1Pool pool,
      @Nullable UpstreamListener listener) {
    this.channel = channel;
    this.pool = pool;
    this.listener = listener;
    this.decoder = channel.pipeline().get(Http1ResponseDecoder.class);
    this.turn = new ReadTurn(new NettyLoop(channel.eventLoop()), this::decodeWaiting);
    decoder.limit(turn);
    this.overTls = channel.pipeline().get(SslHandler.class) != null;
  }

  static void addCodecs(ChannelPipeline pipeline) {
    pipeline.addLast(new Http1ResponseDecoder());
    pipeline.addLast(new RequestEncoder());
  }

  static void open(Channel channel, Http1Pool pool, UpstreamListener listener) {
    listener.connected(opened(channel, pool, listener));
  }

  /** Opens a connection and puts it into the pool as idle, or closes it if the pool is full. */
  static void openIdle(Channel channel, Http1Pool pool) {
    var connection = opened(channel, pool, null);
    connection.idle = pool.giveBack(connection);
    if (!connection.idle) {
      connection.close();
    }
  }

  private static Http1PodConnection opened(Channel channel, Http1Pool pool,
      @Nullable UpstreamListener listener) {
    var connection = new Http1PodConnection(channel, pool, listener);
    // See UpstreamFailure.leavesInput.
    channel.config().setAutoClose(false);
    channel.pipeline().addLast(connection);
    channel.closeFuture().addListener(_ -> pool.gone());
    pool.opened(connection);
    return connection;
  }

  @Override
  public void write(HttpObject part) {
    if (tunnel != null) {
      write(tunnel, (HttpContent) part);
      return;
    }
    if (part instanceof HttpRequest request) {
      decoder.requested(request.method());
      authenticated |= authenticatesConnection(request);
      headWritten = channel.write(part);
    } else {
      channel.write(part, channel.voidPromise());
    }
    requestEnded |= part instanceof LastHttpContent;
  }

  /**
   * Whether a pod may take all that comes over this connection from now on for requests of the same user.
   *
   * <p><b>Source.</b> RFC 4559, and section 3.3 of RFC 9110, which forbids it to the pod.
   */
  private static boolean authenticatesConnection(HttpRequest request) {
    for (var credentials : HeaderFieldList.of(request.headers()).all(KnownHeader.AUTHORIZATION)) {
      if (CONNECTION_SCHEMES.stream()
          .anyMatch(scheme -> credentials.regionMatches(true, 0, scheme, 0, scheme.length()))) {
        return true;
      }
    }
    return false;
  }

  private void write(Tunnel to, HttpContent part) {
    if (part == END_OF_TUNNEL) {
      to.endOutput();
      endIfOver(to);
    } else {
      channel.write(part.content(), channel.voidPromise());
    }
  }

  @Override
  public void flush() {
    channel.flush();
    if (headWritten != null && headWritten.cause() != null && channel.isActive()) {
      // No other event reports that the head could not be encoded.
      channel.close();
    }
  }

  @Override
  public boolean isHttp2() {
    return false;
  }

  @Override
  public boolean isWritable() {
    return channel.isWritable();
  }

  @Override
  public boolean hasUnsent() {
    return NettyTransport.unsentBytes(channel) > 0;
  }

  @Override
  public boolean reused() {
    return reused;
  }

  @Override
  public boolean headIsOut() {
    return headWritten != null && headWritten.isSuccess();
  }

  @Override
  public void pauseReading() {
    paused = true;
    updateReading();
  }

  @Override
  public void resumeReading() {
    paused = false;
    updateReading();
  }

  private void updateReading() {
    channel.config().setAutoRead(!paused && !turn.isOver());
  }

  private void decodeWaiting() {
    updateReading();
    var context = channel.pipeline().context(decoder);
    if (context == null || !channel.isActive()) {
      return;
    }
    try {
      decoder.channelRead(context, Unpooled.EMPTY_BUFFER);
      decoder.channelReadComplete(context);
    } catch (Exception e) {
      context.fireExceptionCaught(e);
    }
  }

  @Override
  public void release() {
    listener = null;
    if (responseEnded && requestEnded && persistent && !authenticated && broken == null
        && channel.isActive()) {
      resumeReading();
      idle = pool.giveBack(this);
    }
    if (!idle) {
      close();
    }
  }

  @Override
  public void close() {
    listener = null;
    leavePool();
    if (tunnel != null) {
      // The caller's last bytes should reach the pod.
      resumeReading();
      tunnel.close();
    } else {
      end();
    }
  }

  /** Closes, or resets in the middle of a request: some servers take a close, and close_notify of TLS, for its end. */
  private void end() {
    if (isRequestCutOff()) {
      NettyTransport.reset(channel);
    } else {
      channel.close();
    }
  }

  /** Whether the pod has got a part of the request, and does not get all of it. */
  private boolean isRequestCutOff() {
    return tunnel == null && headWritten != null
        && (!requestEnded || NettyTransport.unsentBytes(channel) > 0);
  }

  void lend(UpstreamListener to) {
    listener = to;
    idle = false;
    reused = true;
    headWritten = null;
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

  @Override
  public Channel channel() {
    return channel;
  }

  @Override
  public boolean checked(TcpConnectionHealth state) {
    silentChecks = state == TcpConnectionHealth.SILENT ? silentChecks + 1 : 0;
    if (silentChecks > 0 && idle) {
      // The connection may be dead, so it must not be used again.
      close();
      return false;
    }
    boolean gone = silentChecks >= TcpConnectionHealth.CHECKS_UNTIL_GONE;
    if (gone) {
      var former = listener;
      listener = null;
      end();
      ended(former, UpstreamFailure.UNRESPONSIVE);
    }
    return gone;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    var to = listener;
    if (to == null || responseEnded) {
      ReferenceCountUtil.release(message);
      if (tunnel == null) {
        close();
      } else {
        tunnel.refuseInput();
      }
    } else if (message instanceof ByteBuf bytes) {
      to.content(new DefaultHttpContent(bytes));
    } else if (((HttpObject) message).decoderResult().isFailure()) {
      var cause = ((HttpObject) message).decoderResult().cause();
      ReferenceCountUtil.release(message);
      close();
      if (decoder.isHttp2()) {
        to.failed(UpstreamFailure.NO_HTTP1);
      } else {
        failed(to, cause);
      }
    } else if (message instanceof HttpResponse head) {
      read(to, head);
    } else {
      read(to, (HttpContent) message);
    }
  }

  private void failed(UpstreamListener to, Throwable cause) {
    if (cause instanceof PrematureChannelClosureException) {
      to.failed(UpstreamFailure.CLOSED);
    } else {
      malformed(to, cause.getMessage());
    }
  }

  private void malformed(UpstreamListener to, @Nullable String why) {
    pool.logMalformed(why);
    to.failed(UpstreamFailure.MALFORMED);
  }

  private void read(UpstreamListener to, HttpResponse head) {
    interim = head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
    if (head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
      switchTo(to, head);
    } else if (interim) {
      to.interim(head);
    } else {
      persistent = HttpUtil.isKeepAlive(head);
      trailers.head(HeaderFieldList.in(head));
      to.head(head);
    }
  }

  /** Bytes that the decoder has read beyond the head are passed on unparsed. */
  private void switchTo(UpstreamListener to, HttpResponse head) {
    var encoder = channel.pipeline().get(RequestEncoder.class);
    if (encoder.isWithinChunks()) {
      // The encoder has begun to write its own chunks, but the rest of the body would have those of
      // the caller.
      close();
      malformed(to, "101 within a chunked request");
      return;
    }
    tunnel = new Tunnel(channel);
    channel.pipeline().remove(encoder);
    to.head(head);
    if (listener != null) {
      channel.pipeline().remove(Http1ResponseDecoder.class);
    }
  }

  private void read(UpstreamListener to, HttpContent content) {
    if (interim) {
      // The decoder ends each message, a 1xx too, with a last content.
      interim = false;
      content.release();
    } else if (content instanceof LastHttpContent && isCutOff()) {
      // The body ends with the connection, so it may be truncated.
      content.release();
      listener = null;
      to.failed(UpstreamFailure.of(cause()));
    } else {
      responseEnded = content instanceof LastHttpContent;
      if (content instanceof LastHttpContent last) {
        trailers.removeFrom(last.trailingHeaders());
        persistent &= decoder.answered();
      }
      to.content(content);
    }
  }

  /**
   * Whether the connection was not closed cleanly: it failed, or came over TLS and ended without
   * close_notify. An attacker can cause the latter (RFC 9112, section 8; RFC 8446, section 6.1).
   */
  private boolean isCutOff() {
    return !channel.isActive() && (hasFailed() || overTls && !closeNotified);
  }

  private boolean hasFailed() {
    var cause = cause();
    // Queued writes fail even if the pod closes cleanly.
    return cause != null && !(cause instanceof ClosedChannelException);
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    closeNotified |= event instanceof SslCloseCompletionEvent end && end.isSuccess();
    if (tunnel != null && tunnel.endsInput(event)) {
      if (listener != null) {
        listener.podEnded();
      }
      endIfOver(tunnel);
    }
    if (channel instanceof DuplexChannel both && both.isShutdown()) {
      // A write that failed has ended the output only.
      channel.close();
    }
  }

  private void endIfOver(Tunnel both) {
    if (both.isOver() && listener != null) {
      listener.content(LastHttpContent.EMPTY_LAST_CONTENT);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    turn.readCompletes();
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
    if (broken == null) {
      // Keeps the first cause, since the close makes queued writes fail, too.
      broken = cause;
    }
    if (!UpstreamFailure.leavesInput(cause, UpstreamFailure.of(broken))) {
      end();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    leavePool();
    var former = listener;
    listener = null;
    ended(former, UpstreamFailure.of(cause()));
  }

  private void ended(@Nullable UpstreamListener former, UpstreamFailure why) {
    if (former != null && tunnel != null) {
      former.content(LastHttpContent.EMPTY_LAST_CONTENT);
    } else if (former != null && !responseEnded) {
      former.failed(why);
    }
  }

  private @Nullable Throwable cause() {
    return broken == null && headWritten != null ? headWritten.cause() : broken;
  }

  private void leavePool() {
    if (idle) {
      idle = false;
      pool.drop(this);
    }
  }
}
