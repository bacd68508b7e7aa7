package dev.activator.proxy;

import dev.activator.http.AbstractHttp2Handler;
import dev.activator.http.FrameBudget;
import dev.activator.http.Http2Setup;
import dev.activator.http.IncomingHttp2Head;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.codec.ClosedHttp2Streams;
import dev.activator.proxy.codec.Http2HeadParser;
import dev.activator.proxy.exchange.Downstream.Caller;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.RequestVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Exception.HeaderListSizeException;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A caller's HTTP/2 connection: one exchange per stream.
 *
 * <p><b>Errors.</b> A malformed request ends its stream; any other violation ends the connection.
 */
// A failure arrives as channelInactive.
@SuppressWarnings("FutureReturnValueIgnored")
final class Http2CallerSession extends AbstractHttp2Handler<Http2Downstream> {
  private static final Logger log = LoggerFactory.getLogger(Http2CallerSession.class);
  private static final int MAX_STREAMS = 250;
  /** Of a gateway, whose questions wait together and have no large bodies. */
  private static final int MAX_QUESTIONS = 1_000;
  static final int STREAM_WINDOW_BYTES = 64 << 10;
  /** The limit of a head: one MiB as in HTTP/1, plus the overhead that HTTP/2 counts for each field. */
  private static final int MAX_HEAD_BYTES = (1 << 20) + (4 << 10);

  /**
   * How long a caller may read the last responses after a drained connection has ended its output.
   */
  private static final Duration LINGER = Duration.ofSeconds(5);
  /** How long a drained connection waits for the answer to its ping. */
  private static final Duration DRAIN_WAIT = Duration.ofSeconds(1);
  /** The window of a stream while the memory for bodies is tight. */
  private static final int TIGHT_WINDOW_BYTES = 4 << 10;
  /** The maximum cost of a connection's large heads together. */
  private static final int MAX_HEADS_BYTES = 4 << 20;

  private final Channel channel;
  private final RequestDispatcher dispatcher;
  private final Caller caller;
  private final UnreadStreams unread;
  private final ResettableTimer timer;
  private final ClosedHttp2Streams history = new ClosedHttp2Streams();
  private final Http2FloodLimiter limiter;
  private final AbusiveConnectionCounter endedConnections;
  private final int maxStreams;
  private int headBytes;
  private int windowBytes;
  private boolean calmed;
  private boolean draining;
  private boolean refusesNewRequests;

  private Http2CallerSession(Http2Setup setup, Channel channel, RequestDispatcher dispatcher,
      Http2FloodLimiter limiter, Duration headTimeout, AbusiveConnectionCounter endedConnections) {
    super(setup, dispatcher.held().windows(), dispatcher.loop());
    this.maxStreams = maxStreams(dispatcher);
    this.channel = channel;
    this.dispatcher = dispatcher;
    this.caller = Caller.of(channel);
    this.unread = new UnreadStreams(this, channel, dispatcher.unread(), headTimeout.toNanos());
    this.endedConnections = endedConnections;
    this.limiter = limiter;
    this.windowBytes = Objects.requireNonNull(setup.settings().initialWindowSize());
    this.timer = new ResettableTimer(dispatcher.loop(), this::checkDeadlines);
    listen(new Events());
  }

  /** @param headTimeout the timeout for a head, and for the initial SETTINGS */
  static Http2CallerSession of(Channel channel, RequestDispatcher dispatcher, Duration headTimeout,
      AbusiveConnectionCounter endedConnections) {
    var settings = Http2Settings.defaultSettings().maxConcurrentStreams(maxStreams(dispatcher))
        .initialWindowSize(dispatcher.held().windowOfStreams(STREAM_WINDOW_BYTES,
            TIGHT_WINDOW_BYTES, STREAM_WINDOW_BYTES))
        .maxHeaderListSize(MAX_HEAD_BYTES);
    var limiter = new Http2FloodLimiter(dispatcher.loop(), headTimeout, dispatcher.held());
    return new Http2CallerSession(Http2Setup.server(settings, limiter), channel, dispatcher,
        limiter,
        headTimeout, endedConnections);
  }

  private static int maxStreams(RequestDispatcher dispatcher) {
    return takesQuestions(dispatcher) ? MAX_QUESTIONS : MAX_STREAMS;
  }

  private static boolean takesQuestions(RequestDispatcher dispatcher) {
    return dispatcher.seams().delivery() != null;
  }

  /** Whether the caller is a gateway with questions about its requests. */
  boolean takesQuestions() {
    return takesQuestions(dispatcher);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) throws Exception {
    super.handlerAdded(added);
    limiter.start(this);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext on) throws Exception {
    limiter.readCompletes();
    super.channelReadComplete(on);
  }

  void refuse(Http2Exception why) {
    onError(context(), false, why);
  }

  void closeUnopened() {
    log.debug("{} sent no HTTP/2 preface and SETTINGS in time", caller.address());
    context().close();
  }

  Caller caller() {
    return caller;
  }

  @Override
  protected void wroteMessageFrame(int bytes) {
    limiter.wroteResponse(bytes);
  }

  private void begin(Http2Stream stream, HttpRequest request, boolean last)
      throws Http2Exception {
    var downstream = new Http2Downstream(this, stream, request, last);
    assign(stream, downstream);
    downstream.headBytes = dispatcher.holdLargeHead(request, MAX_HEADS_BYTES - headBytes);
    headBytes += downstream.headBytes;
    dispatcher.dispatch(request, RequestVersion.HTTP_2, downstream);
    if (last) {
      downstream.content(LastHttpContent.EMPTY_LAST_CONTENT, 0);
    } else {
      updateWindow();
      // Needed because a caller may wait for the response's head before it sends the body.
      downstream.flushUpstream();
    }
  }

  /** Makes the window of all streams fit the memory that is left for bodies. */
  private void updateWindow() {
    int now = dispatcher.held().windowOfStreams(windowBytes, TIGHT_WINDOW_BYTES,
        STREAM_WINDOW_BYTES);
    if (now != windowBytes) {
      windowBytes = now;
      encoder().writeSettings(context(), new Http2Settings().initialWindowSize(now),
          context().newPromise());
      flushSoon();
    }
  }

  /**
   * Gives back what streams have consumed if smaller SETTINGS leave no window for more. Netty checks
   * that only when more is consumed, but then nothing more can come.
   */
  private void reopenWindows() throws Http2Exception {
    connection().forEachActiveStream(stream -> {
      if (!stream.isResetSent()) {
        connection().local().flowController().incrementWindowSize(stream, 0);
      }
      return true;
    });
    flushSoon();
  }

  @Override
  protected boolean mayWiden() {
    return windowBytes == STREAM_WINDOW_BYTES;
  }

  /** Whether a body that waits may wait on. Callers send less at once from now on, if memory is tight. */
  boolean hasMemoryForBodies() {
    updateWindow();
    return !dispatcher.held().refusesBodies();
  }

  void checkAt(long dueNanos) {
    timer.at(dueNanos);
  }

  @Override
  protected void pendingBytes(Http2Stream stream, long bytes) {
    var downstream = of(stream);
    if (downstream != null) {
      unread.queued(downstream.unread(bytes));
    }
  }

  @Override
  public void flush(ChannelHandlerContext on) {
    super.flush(on);
    if (unread.measure() > 0) {
      timer.within(unread.drainNanos());
    }
  }

  /** Whether the caller has read in this time, though bytes wait in the socket and the stream has a window. */
  boolean hasRead(Http2Stream stream, long nanos) {
    return connection().remote().flowController().windowSize(stream) > 0
        && NettyTransport.unsentBytes(channel) > 0
        && NettyTransport.hasSent(channel, TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  UnreadStreams unread() {
    return unread;
  }

  long nanoTime() {
    return dispatcher.loop().nanoTime();
  }

  void eachDownstream(Consumer<Http2Downstream> action) {
    try {
      connection().forEachActiveStream(stream -> {
        var downstream = of(stream);
        if (downstream != null) {
          action.accept(downstream);
        }
        return true;
      });
    } catch (Http2Exception e) {
      onError(context(), true, e);
    }
  }

  private void checkDeadlines() {
    long[] next = {Long.MAX_VALUE};
    long[] drain = {0};
    eachDownstream(one -> {
      next[0] = Math.min(next[0], one.checkDeadlines());
      drain[0] = Math.max(drain[0], one.drainNanos());
    });
    long idle = unread.checkIdle(drain[0]);
    next[0] = Math.min(next[0], idle);
    if (idle > 0 && next[0] < Long.MAX_VALUE) {
      timer.within(next[0]);
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
    if (outbound) {
      super.onStreamError(on, true, cause, error);
      return;
    }
    int id = error.streamId();
    var stream = connection().stream(id);
    boolean isOver = stream == null && error.error() == Http2Error.STREAM_CLOSED;
    if (isOver && history.wasReset(id)) {
      // The caller sent this frame before it saw our reset; RFC 9113, section 5.1.
      return;
    }
    limiter.answeredError();
    if (error instanceof HeaderListSizeException && stream != null && of(stream) == null) {
      refuseHead(stream);
    } else if (isOver) {
      onConnectionError(on, false, cause, Http2Exception.connectionError(
          history.errorOfUnknown(connection().remote().lastStreamCreated()), "Stream %d is over",
          id));
    } else if (error.error() == Http2Error.PROTOCOL_ERROR && stream != null && of(stream) != null
        && stream.state() == Http2Stream.State.HALF_CLOSED_REMOTE) {
      // The caller has, for example, sent a second head after END_STREAM.
      super.onStreamError(on, false, cause, (Http2Exception.StreamException) Http2Exception
          .streamError(id, Http2Error.STREAM_CLOSED, "Stream %d has ended", id));
    } else {
      super.onStreamError(on, false, cause, error);
    }
  }

  @Override
  protected void onConnectionError(ChannelHandlerContext on, boolean outbound, Throwable cause,
      @Nullable Http2Exception error) {
    // The rest of the same read may exceed the limit again.
    if (!calmed && error != null && error.error() == Http2Error.ENHANCE_YOUR_CALM) {
      calmed = true;
      endedConnections.ended(Http2FloodLimiter.reason(error), on.channel().remoteAddress(),
          dispatcher.loop().nanoTime());
    }
    super.onConnectionError(on, outbound, cause, error);
  }

  /** The head was not stored, so the method is unknown. */
  private void refuseHead(Http2Stream stream) {
    if (connection().numActiveStreams() > maxStreams) {
      reset(stream, Http2Error.REFUSED_STREAM);
      return;
    }
    var downstream = new Http2Downstream(this, stream, null, false);
    assign(stream, downstream);
    downstream.answer(RequestFailure.headTooLarge(), ErrorFormat.TEXT);
    downstream.ended();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext on, Object event) throws Exception {
    if (event == ProxyServer.Drain.NOW) {
      drain();
    }
    super.userEventTriggered(on, event);
  }

  /**
   * Closes the connection without losing requests that are on their way.
   *
   * <p><b>Source.</b> RFC 9113, section 6.8: two GOAWAYs, a round trip apart.
   */
  void drain() {
    if (!draining) {
      draining = true;
      sendGoAway(Integer.MAX_VALUE);
      ping();
      dispatcher.loop().schedule(DRAIN_WAIT, this::refuseNewRequests);
    }
  }

  private void refuseNewRequests() {
    if (!refusesNewRequests && channel.isActive()) {
      refusesNewRequests = true;
      sendGoAway(connection().remote().lastStreamCreated());
      endIfDrained();
    }
  }

  private void endIfDrained() {
    if (refusesNewRequests && connection().numActiveStreams() == 0) {
      end();
    }
  }

  private void sendGoAway(int last) {
    goAway(context(), last, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER,
        context().newPromise());
    flushSoon();
  }

  /**
   * Closes the sending half first: a closed socket would answer the caller's WINDOW_UPDATEs with a
   * reset.
   */
  private void end() {
    ignoreReads();
    context().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(_ -> {
      NettyTransport.endOutput(channel);
      var linger = dispatcher.loop().schedule(LINGER, channel::close);
      channel.closeFuture().addListener(_ -> linger.cancel());
    });
  }

  @Override
  public void channelInactive(ChannelHandlerContext on) throws Exception {
    timer.cancel();
    limiter.close();
    super.channelInactive(on);
    unread.close();
  }

  private final class Events extends FrameEvents {
    @Override
    protected void headRead(int id, IncomingHttp2Head head, boolean last) throws Http2Exception {
      var stream = connection().stream(id);
      var downstream = of(stream);
      if (downstream != null) {
        downstream.content(new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER,
            Http2HeadParser.trailers(id, head)), 0);
      } else if (stream != null) {
        if (connection().numActiveStreams() > maxStreams) {
          throw Http2Exception.streamError(id, Http2Error.REFUSED_STREAM, "too many streams");
        }
        begin(stream, Http2HeadParser.parse(id, head), last);
      }
    }

    @Override
    public int onDataRead(ChannelHandlerContext on, int id, ByteBuf data, int padding,
        boolean last) throws Http2Exception {
      var downstream = of(connection().stream(id));
      int bytes = windowBytes(data, padding);
      if (downstream == null || (!last && !data.isReadable())) {
        return bytes;
      }
      var part = last
          ? new DefaultLastHttpContent(data.retain(), EmptyHttpHeaders.INSTANCE)
          : new DefaultHttpContent(data.retain());
      return downstream.content(part, bytes);
    }

    @Override
    public void onRstStreamRead(ChannelHandlerContext on, int id, long error) {
      var downstream = of(connection().stream(id));
      if (downstream != null && downstream.openNanos() >= FrameBudget.LONG_REQUEST_NANOS) {
        limiter.forgiveReset();
      }
    }

    /**
     * Removes Netty's own limit of streams. With it Netty would refuse streams itself, and end the
     * connection when the body of a refused stream comes.
     */
    @Override
    public void onSettingsAckRead(ChannelHandlerContext on) throws Http2Exception {
      connection().remote().maxActiveStreams(Integer.MAX_VALUE);
      reopenWindows();
    }

    @Override
    public void onStreamAdded(Http2Stream stream) {
      history.created();
    }

    @Override
    public void onStreamClosed(Http2Stream stream) {
      var downstream = of(stream);
      if (downstream != null) {
        downstream.gone();
        headBytes -= downstream.headBytes;
        dispatcher.releaseHead(downstream.headBytes);
      }
      endIfDrained();
    }

    @Override
    public void onPingAckRead(ChannelHandlerContext on, long data) {
      if (draining) {
        // The caller has also read the GOAWAY before the ping.
        refuseNewRequests();
      }
    }
  }
}
