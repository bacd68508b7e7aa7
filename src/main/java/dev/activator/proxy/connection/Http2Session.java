package dev.activator.proxy.connection;

import dev.activator.loop.DeadlineTimer;
import dev.activator.proxy.codec.Http2Head;
import dev.activator.proxy.codec.StreamHistory;
import dev.activator.proxy.exchange.Caller;
import dev.activator.proxy.exchange.Entrance;
import dev.activator.proxy.policy.Failure;
import dev.activator.proxy.policy.field.Version;
import dev.activator.upstream.codec.Http2Endpoint;
import dev.activator.upstream.codec.Http2Setup;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Exception.HeaderListSizeException;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A caller's HTTP/2 connection: an exchange a stream, many at once.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 *
 * <p>
 * <b>Errors.</b> A malformed request ends its stream; what is malformed beyond that, or too much of
 * anything, ends the connection.
 */
// What cannot be written or closed ends the connection, and its end is heard of.
@SuppressWarnings("FutureReturnValueIgnored")
public final class Http2Session extends Http2Endpoint {
  private static final Logger log = LoggerFactory.getLogger(Http2Session.class);
  private static final int MAX_STREAMS = 250;
  private static final int STREAM_WINDOW_BYTES = 64 << 10;
  /** One MiB as on HTTP/1, and what the fields of a large one count beyond their bytes. */
  private static final int MAX_HEAD_BYTES = (1 << 20) + (4 << 10);
  private static final Http2Exception HEAD_TOO_SLOW = Http2Exception
      .connectionError(Http2Error.ENHANCE_YOUR_CALM, "a head took too long");

  private final Entrance entrance;
  private final Duration headTimeout;
  private final Http2Connection.PropertyKey key;
  private final DeadlineTimer timer;
  private final Set<Http2Downstream> running = new LinkedHashSet<>();
  private final StreamHistory history = new StreamHistory();
  private final Http2HeadClock headClock;
  private final Http2Drain drain;
  private Caller caller = new Caller("", 0, false);
  private boolean opened;

  private Http2Session(Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder,
      Http2Settings settings, Entrance entrance, Duration headTimeout) {
    super(decoder, encoder, settings);
    var loop = entrance.worker().loop();
    this.entrance = entrance;
    this.headTimeout = headTimeout;
    this.headClock = new Http2HeadClock(loop, headTimeout);
    this.drain = new Http2Drain(this, loop);
    this.key = connection().newKey();
    this.timer = new DeadlineTimer(loop, this::checkDeadlines);
    var events = new Http2SessionEvents(this, history, drain);
    connection().addListener(events);
    decoder.frameListener(events);
    connection().remote().flowController().listener(this::writabilityChanged);
  }

  /** The handler of a connection whose requests go in here, with so much time for each head. */
  public static Http2Session of(Entrance entrance, Duration headTimeout) {
    var settings = Http2Settings.defaultSettings().maxConcurrentStreams(MAX_STREAMS)
        .initialWindowSize(STREAM_WINDOW_BYTES).maxHeaderListSize(MAX_HEAD_BYTES);
    return Http2Setup.server(settings, (decoder, encoder, own) -> new Http2Session(decoder,
        encoder, own, entrance, headTimeout));
  }

  /** Serves the request that asked for HTTP/2, with these settings, as the first stream. */
  void upgraded(HttpRequest request, Http2Settings settings) throws Http2Exception {
    onHttpServerUpgrade(settings);
    var stream = connection().stream(Http2CodecUtil.HTTP_UPGRADE_STREAM_ID);
    if (stream != null) {
      request.setProtocolVersion(Http2Head.VERSION);
      begin(stream, request, true);
    }
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) throws Exception {
    super.handlerAdded(added);
    caller = Caller.of(added.channel());
    timer.within(headTimeout.toNanos());
  }

  @Override
  protected ChannelHandlerContext context() {
    return super.context();
  }

  @Override
  public void channelRead(ChannelHandlerContext on, Object message) throws Exception {
    headClock.reads((ByteBuf) message);
    super.channelRead(on, message);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext on) throws Exception {
    super.channelReadComplete(on);
    if (headClock.readComplete()) {
      timer.within(headTimeout.toNanos());
    }
  }

  /** The caller has said how it speaks HTTP/2. */
  void opened() {
    opened = true;
  }

  /** A request has come, to its end or not. */
  void begin(Http2Stream stream, HttpRequest request, boolean last) {
    var downstream = new Http2Downstream(this, stream, request.method(), last);
    stream.setProperty(key, downstream);
    var exchange = entrance.take(request, Version.HTTP_2, caller, downstream);
    if (exchange != null) {
      downstream.begin(exchange);
      running.add(downstream);
      timer.within(exchange.nanosLeft());
      entrance.start(exchange);
      if (last) {
        downstream.content(LastHttpContent.EMPTY_LAST_CONTENT, 0);
      }
    }
  }

  @Override
  public ChannelFuture resetStream(ChannelHandlerContext on, int id, long error,
      ChannelPromise promise) {
    history.reset(id);
    return super.resetStream(on, id, error, promise);
  }

  @Override
  protected void onStreamError(ChannelHandlerContext on, boolean outbound, Throwable cause,
      Http2Exception.StreamException error) {
    int id = error.streamId();
    var stream = connection().stream(id);
    if (outbound) {
      super.onStreamError(on, true, cause, error);
    } else if (error instanceof HeaderListSizeException && of(stream) == null) {
      refuseHead(id);
    } else if (stream == null && error.error() == Http2Error.STREAM_CLOSED
        && !history.wasReset(id)) {
      onConnectionError(on, false, cause, Http2Exception.connectionError(
          history.errorOfUnknown(connection().remote().lastStreamCreated()),
          "Stream %d is over", id));
    } else if (error.error() == Http2Error.PROTOCOL_ERROR && of(stream) != null
        && isHalfClosed(stream)) {
      // A second head, say: its caller had said that nothing more would come.
      super.onStreamError(on, false, cause, (Http2Exception.StreamException) Http2Exception
          .streamError(id, Http2Error.STREAM_CLOSED, "Stream %d has ended", id));
    } else {
      super.onStreamError(on, false, cause, error);
    }
  }

  /** It was read to its end, but not kept. Whether a body follows is not known. */
  private void refuseHead(int id) {
    try {
      var known = connection().stream(id);
      var stream = known == null ? connection().remote().createStream(id, false) : known;
      var downstream = new Http2Downstream(this, stream, HttpMethod.GET, false);
      stream.setProperty(key, downstream);
      downstream.answer(new Failure.HeadTooLarge());
      downstream.ended();
    } catch (Http2Exception tooMany) {
      onError(context(), false, tooMany);
    }
  }

  private static boolean isHalfClosed(@Nullable Http2Stream stream) {
    return stream != null && stream.state() == Http2Stream.State.HALF_CLOSED_REMOTE;
  }

  /** One of the streams has its response. */
  void ended(Http2Downstream downstream) {
    running.remove(downstream);
  }

  private void writabilityChanged(Http2Stream stream) {
    var downstream = of(stream);
    if (downstream != null) {
      downstream.writabilityChanged();
    }
  }

  /** The one of this stream; null if none has begun. */
  @Nullable Http2Downstream of(@Nullable Http2Stream stream) {
    return stream == null ? null : stream.getProperty(key);
  }

  private void checkDeadlines() {
    if (!opened) {
      log.debug("No HTTP/2 from {} in time", caller.address());
      context().close();
      return;
    }
    long next = headClock.nanosLeft();
    if (next <= 0) {
      log.debug("No end of a head from {} in time", caller.address());
      onError(context(), true, HEAD_TOO_SLOW);
      return;
    }
    for (var downstream : List.copyOf(running)) {
      next = Math.min(next, checkDeadline(downstream));
    }
    if (next < Long.MAX_VALUE) {
      timer.within(next);
    }
  }

  private static long checkDeadline(Http2Downstream downstream) {
    var exchange = downstream.exchange();
    if (exchange == null) {
      return Long.MAX_VALUE;
    }
    long left = exchange.nanosLeft();
    if (left <= 0) {
      exchange.timedOut();
      return Long.MAX_VALUE;
    }
    return left;
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext on, Object event) throws Exception {
    if (event == Drain.NOW) {
      drain();
    }
    super.userEventTriggered(on, event);
  }

  /** No more requests are taken; the last response ends the connection. */
  public void drain() {
    drain.begin();
  }

  /** Whether anything can still be said. */
  boolean isOpen() {
    return context().channel().isActive();
  }

  /** Tells the caller that streams after this one are not served. */
  void sayGoAway(int last) {
    goAway(context(), last, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER,
        context().newPromise());
    flushSoon();
  }

  /** Asks the caller for a sign that it has read what was said before. */
  void ping() {
    encoder().writePing(context(), false, 0, context().newPromise());
    flushSoon();
  }

  /** Ends the connection after what was written. */
  void end() {
    context().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(_ -> context().close());
  }

  @Override
  public void channelInactive(ChannelHandlerContext on) throws Exception {
    timer.cancel();
    super.channelInactive(on);
  }
}
