package dev.activator.http;

import dev.activator.loop.Loop;
import dev.activator.loop.NettyTransport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The base of the handlers of an HTTP/2 client and an HTTP/2 server. Each stream has one {@link StreamUser}.
 *
 * <p><b>Threads.</b> Only its loop.
 */
// A failed write ends the stream or the connection, and both are reported.
@SuppressWarnings("FutureReturnValueIgnored")
public abstract class AbstractHttp2Handler<U extends AbstractHttp2Handler.StreamUser>
    extends
    Http2ConnectionHandler {
  public interface StreamUser {
    /**
     * The stream has become writable or unwritable. Also called during the write that makes it
     * unwritable.
     */
    void writabilityChanged();
  }

  private static final Logger log = LoggerFactory.getLogger(AbstractHttp2Handler.class);
  /**
   * So large that only the windows of streams limit the bytes, because one unread stream must not
   * block the others.
   */
  private static final int CONNECTION_WINDOW_BYTES = 1 << 30;

  /** The frame size that every peer must accept. */
  private static final int DIRECT_BYTES = 16 << 10;
  private static final long LAST_FRAMES_MILLIS = 2_000;

  private @Nullable ChannelHandlerContext context;
  private final ReadTurn turn;
  private final Http2Connection.PropertyKey user;
  private final OutgoingHttp2Head head = new OutgoingHttp2Head();
  private final WindowBudget.Share windows;
  private boolean reading;
  private boolean flushing;
  /** Whether a stream was not writable because the channel was not. */
  private boolean awaitsChannel;
  private boolean takingWindow;
  /** Whether a stream that is writable was not notified, because a window was being taken. */
  private boolean notifiesLater;
  private boolean failed;

  /** @param windows of all connections to such peers */
  protected AbstractHttp2Handler(Http2Setup setup, WindowBudget windows, Loop loop) {
    // No GOAWAY is sent when the channel closes; subclasses send it where it is due.
    super(setup.decoder(), setup.encoder(), setup.settings(), true, true);
    gracefulShutdownTimeoutMillis(LAST_FRAMES_MILLIS);
    this.windows = windows.new Share();
    turn = new ReadTurn(loop, this::handleWaiting);
    setup.connect(this, turn);
    user = connection().newKey();
  }

  protected final void listen(FrameEvents events) {
    connection().addListener(events);
    decoder().frameListener(events);
    connection().remote().flowController().listener(this::notifyOfWritability);
  }

  private void notifyOfWritability(Http2Stream stream) {
    if (takingWindow) {
      // The stream would write its next part before the one that takes the window.
      notifiesLater |= connection().remote().flowController().isWritable(stream);
      return;
    }
    var its = of(stream);
    if (its != null) {
      its.writabilityChanged();
    }
  }

  protected final void assign(Http2Stream stream, U its) {
    stream.setProperty(user, its);
  }

  protected final @Nullable U of(@Nullable Http2Stream stream) {
    return stream == null ? null : stream.getProperty(user);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) throws Exception {
    context = added;
    super.handlerAdded(added);
    if (connection().isServer()) {
      openWindow();
    }
  }

  /** Enlarges the connection's window. Call only after the preface. */
  protected void openWindow() throws Http2Exception {
    var window = connection().local().flowController();
    var all = connection().connectionStream();
    window.incrementWindowSize(all, CONNECTION_WINDOW_BYTES - window.windowSize(all));
    flushSoon();
  }

  /**
   * Netty would name the highest possible stream after an error. The peer may send again what
   * follows the last stream that was seen.
   */
  @Override
  public ChannelFuture goAway(ChannelHandlerContext on, int last, long error, ByteBuf text,
      ChannelPromise promise) {
    int seen = error == Http2Error.NO_ERROR.code()
        ? last
        : Math.min(last, connection().remote().lastStreamCreated());
    return super.goAway(on, seen, error, text, promise);
  }

  public final ChannelHandlerContext context() {
    if (context == null) {
      throw new IllegalStateException("not in a pipeline yet");
    }
    return context;
  }

  @Override
  public void channelRead(ChannelHandlerContext on, Object message) throws Exception {
    if (failed) {
      // The connection is closing, and decoding the rest could take very long.
      ReferenceCountUtil.release(message);
      return;
    }
    reading = true;
    super.channelRead(on, message);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext on) throws Exception {
    turn.readCompletes();
    reading = false;
    if (turn.isOver()) {
      // Requests no further read.
      flush(on);
    } else {
      super.channelReadComplete(on);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext on) throws Exception {
    turn.lift();
    super.channelInactive(on);
  }

  /** Handles the frames that were left over from the last turn. */
  private void handleWaiting() {
    if (context().isRemoved() || !context().channel().isActive()) {
      return;
    }
    try {
      channelRead(context(), Unpooled.EMPTY_BUFFER);
      if (!turn.isOver()) {
        context().channel().config().setAutoRead(true);
      }
      channelReadComplete(context());
    } catch (Exception e) {
      onError(context(), false, e);
    }
  }

  protected final void ignoreReads() {
    failed = true;
  }

  public void flushSoon() {
    if (!reading && !flushing) {
      flushing = true;
      context().executor().execute(this::flushNow);
    }
  }

  public void flushNow() {
    flushing = false;
    flush(context());
  }

  void tooManyControlFrames() {
    onError(context(), true, Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM,
        "too many answers to control frames are not read"));
    context().close();
  }

  protected void wroteMessageFrame(int bytes) {}

  protected void pendingBytes(Http2Stream stream, long bytes) {}

  /** @param stream null before the stream is begun */
  public boolean isWritable(@Nullable Http2Stream stream) {
    boolean isWritable = stream == null
        ? context().channel().isWritable()
        : connection().remote().flowController().isWritable(stream);
    awaitsChannel |= !isWritable && !context().channel().isWritable();
    return isWritable;
  }

  /**
   * Netty notifies no stream if the channel is writable again before it is notified that it was not, as
   * over TLS, where that event is posted.
   */
  @Override
  public void channelWritabilityChanged(ChannelHandlerContext on) throws Exception {
    super.channelWritabilityChanged(on);
    if (awaitsChannel && on.channel().isWritable()) {
      awaitsChannel = false;
      notifyAllOfWritability();
    }
  }

  private void notifyAllOfWritability() throws Http2Exception {
    connection().forEachActiveStream(stream -> {
      notifyOfWritability(stream);
      return true;
    });
  }

  /** The object to fill with the next head that is written. */
  public OutgoingHttp2Head head() {
    return head;
  }

  public ChannelFuture writeHeaders(int stream, Http2Headers headers, boolean last) {
    return write(stream, headers, last);
  }

  private ChannelFuture write(int stream, Http2Headers headers, boolean last) {
    var written = encoder().writeHeaders(context(), stream, headers, 0, last,
        context().newPromise());
    head.forget();
    return written;
  }

  /** Completes when all of it is sent. */
  public Future<Void> writeContent(int stream, HttpContent part) {
    boolean last = part instanceof LastHttpContent;
    var trailers = part instanceof LastHttpContent end && !end.trailingHeaders().isEmpty()
        ? end.trailingHeaders()
        : null;
    if (trailers == null) {
      return writeData(stream, part.content(), last);
    }
    if (part.content().isReadable()) {
      writeData(stream, part.content(), false);
    } else {
      part.release();
    }
    // Trailers are queued behind data that waits for the window. Meanwhile other heads are written,
    // so these trailers need an object of their own.
    var known = connection().stream(stream);
    boolean waits = known != null
        && connection().remote().flowController().hasFlowControlled(known);
    var end = (waits ? new OutgoingHttp2Head() : head).trailers(trailers);
    return write(stream, end, true);
  }

  private ChannelFuture writeData(int id, ByteBuf data, boolean last) {
    var stream = connection().stream(id);
    if (stream == null || !fits(stream, data.readableBytes())) {
      return encoder().writeData(context(), id, data, 0, last, context().newPromise());
    }
    takeWindow(stream, data.readableBytes());
    var written = encoder().frameWriter().writeData(context(), id, data, 0, last,
        context().newPromise());
    if (written.cause() != null) {
      onError(context(), true, written.cause());
    } else if (last) {
      closeStreamLocal(stream, written);
    }
    return written;
  }

  /**
   * Whether the data can be written without Netty's queue for flow control. The queue costs several
   * objects, and holds back even the end of a body while a window is negative.
   */
  private boolean fits(Http2Stream stream, int bytes) {
    var windows = connection().remote().flowController();
    return bytes <= DIRECT_BYTES && stream.state().localSideOpen() && !stream.isResetSent()
        && context().channel().isWritable() && !windows.hasFlowControlled(stream)
        && (bytes == 0 || bytes <= windows.windowSize(stream)
            && bytes <= windows.windowSize(connection().connectionStream()));
  }

  private void takeWindow(Http2Stream stream, int bytes) {
    var windows = connection().remote().flowController();
    takingWindow = true;
    try {
      windows.incrementWindowSize(connection().connectionStream(), -bytes);
      windows.incrementWindowSize(stream, -bytes);
    } catch (Http2Exception e) {
      throw new IllegalStateException(e);
    } finally {
      takingWindow = false;
    }
    if (notifiesLater) {
      notifiesLater = false;
      context().executor().execute(this::notifyLater);
    }
  }

  private void notifyLater() {
    try {
      notifyAllOfWritability();
    } catch (Http2Exception e) {
      onError(context(), true, e);
    }
  }

  public void reset(Http2Stream stream, Http2Error error) {
    resetStream(context(), stream.id(), error.code(), context().newPromise());
    if (connection().remote().flowController().hasFlowControlled(stream)) {
      // Netty would close the stream only when the reset is flushed. If the window opened before
      // that, DATA would follow the reset.
      stream.close();
    }
    flushSoon();
  }

  public void ping() {
    encoder().writePing(context(), false, 0, context().newPromise());
    flushSoon();
  }

  WindowBudget.Share windows() {
    return windows;
  }

  /** Whether windows of streams may grow now, and stay larger than they began. */
  protected boolean mayWiden() {
    return true;
  }

  public void consume(Http2Stream stream, int bytes) {
    try {
      if (connection().local().flowController().consumeBytes(stream, bytes)) {
        flushSoon();
      }
    } catch (Http2Exception e) {
      onError(context(), true, e);
    }
  }

  /** Padding counts for flow control. */
  public static int windowBytes(ByteBuf data, int padding) {
    return data.readableBytes() + padding;
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext on, Throwable cause) throws Exception {
    if (Http2CodecUtil.getEmbeddedHttp2Exception(cause) != null) {
      super.exceptionCaught(on, cause);
      return;
    }
    // The TLS handler wraps I/O errors and failed buffer allocations.
    var inner = cause.getCause() == null ? cause : cause.getCause();
    var peer = NettyTransport.text(on.channel().remoteAddress());
    if (cause instanceof OutOfMemoryError || inner instanceof OutOfMemoryError) {
      log.warn("There is no direct memory for the HTTP/2 connection to {}: it is closed", peer);
    } else if (cause instanceof IOException || inner instanceof IOException) {
      log.debug("The HTTP/2 connection to {} failed: {}", peer, cause.toString());
    } else {
      log.warn("Handling the HTTP/2 connection to {} failed", peer, cause);
    }
    on.close();
  }

  @Override
  protected void onStreamError(ChannelHandlerContext on, boolean outbound, Throwable cause,
      Http2Exception.StreamException error) {
    log.debug("Stream {} of the HTTP/2 connection to {} ends: {}", error.streamId(),
        on.channel().remoteAddress(), error.getMessage());
    super.onStreamError(on, outbound, cause, error);
  }

  @Override
  protected void onConnectionError(ChannelHandlerContext on, boolean outbound, Throwable cause,
      @Nullable Http2Exception error) {
    if (error == null && !(cause instanceof IOException)) {
      log.warn("Handling the HTTP/2 connection to {} failed",
          NettyTransport.text(on.channel().remoteAddress()), cause);
    } else {
      log.debug("The HTTP/2 connection to {} ends: {}", on.channel().remoteAddress(),
          cause.getMessage());
    }
    failed = true;
    super.onConnectionError(on, outbound, cause, error);
  }

  /** Merges Netty's two callbacks for HEADERS, with and without priority. */
  protected abstract static class FrameEvents extends Http2EventAdapter {
    @Override
    public final void onHeadersRead(ChannelHandlerContext on, int id, Http2Headers headers,
        int dependency, short weight, boolean exclusive, int padding, boolean last)
        throws Http2Exception {
      onHeadersRead(on, id, headers, padding, last);
    }

    @Override
    public final void onHeadersRead(ChannelHandlerContext on, int id, Http2Headers headers,
        int padding, boolean last) throws Http2Exception {
      var head = (IncomingHttp2Head) headers;
      head.check();
      headRead(id, head, last);
    }

    protected abstract void headRead(int id, IncomingHttp2Head head, boolean last)
        throws Http2Exception;
  }
}
