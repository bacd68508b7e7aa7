package dev.activator.upstream;

import dev.activator.http.AbstractHttp2Handler;
import dev.activator.http.FrameBudget;
import dev.activator.http.Http2Setup;
import dev.activator.http.IncomingHttp2Head;
import dev.activator.upstream.DeadConnectionDetector.TcpConnectionHealth;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http2.Http2ConnectionPrefaceAndSettingsFrameWrittenEvent;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/2 connection to a pod. It is used from the pod's first SETTINGS, which contain the limit
 * of streams, until the pod's GOAWAY.
 */
// A channel that fails to close is closed already.
@SuppressWarnings("FutureReturnValueIgnored")
final class Http2PodSession extends AbstractHttp2Handler<Http2PodStream>
    implements DeadConnectionDetector.Checked {
  /** The limit for a pod that sets none, as in Go's client. */
  private static final int STREAMS_WITHOUT_LIMIT = 1_000;
  /**
   * The window of a stream until the caller has read some of the response. It is small, because
   * there may be 20,000 streams.
   */
  static final int STREAM_WINDOW_BYTES = 16 << 10;
  private static final int MAX_HEAD_BYTES = 10 << 20;
  /**
   * After a stream with this id the connection lends no more. The ids above it are for streams that
   * are already lent.
   */
  private static final int LAST_STREAM_ID = Integer.MAX_VALUE - 16 * STREAMS_WITHOUT_LIMIT;
  private static final long RECENT_READ_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Http2Pool pool;
  private final FrameBudget budget;
  /** The streams that got something in this read. */
  private final List<Http2PodStream> read = new ArrayList<>();
  private Http2KeepAlive pings = Http2KeepAlive.NONE;
  private UpstreamFailure failure = UpstreamFailure.CLOSED;
  private int lentStreams;
  private int silentChecks;
  private boolean readSinceCheck;
  private boolean everRead;
  private long lastReadNanos;
  private boolean writtenSinceRead;
  private boolean retired;
  private boolean ready;
  private boolean malformed;
  /** Whether the pod has reported an error of the connection, and must close it. */
  private boolean ended;
  private boolean used;
  /** When the last stream was returned, or when the connection opened. */
  private long idleSince;

  private Http2PodSession(Http2Setup setup, Http2Pool pool, FrameBudget budget) {
    super(setup, pool.windows(), pool.loop());
    this.pool = pool;
    this.budget = budget;
    this.idleSince = pool.nanoTime();
    listen(new Events());
  }

  static Http2PodSession of(Http2Pool pool) {
    var settings = Http2Settings.defaultSettings().pushEnabled(false)
        .initialWindowSize(STREAM_WINDOW_BYTES).maxHeaderListSize(MAX_HEAD_BYTES);
    var budget = new FrameBudget(pool.loop());
    return new Http2PodSession(Http2Setup.client(settings, (type, flags, length) -> {
      budget.charge(type, flags, length);
      return true;
    }), pool, budget);
  }

  /** Whether bytes arrived so recently that checking the TCP state would add nothing. */
  boolean hasRecentlyRead() {
    return everRead && pool.nanoTime() - lastReadNanos < RECENT_READ_NANOS;
  }

  boolean hasRoom() {
    return ready && !retired && lentStreams < limit() && context().channel().isActive();
  }

  /** Whether the pod's SETTINGS allow no stream for now; RFC 9113, section 6.5.2. */
  boolean allowsNoStreams() {
    return !retired && limit() == 0 && context().channel().isActive();
  }

  boolean isReady() {
    return ready;
  }

  boolean isMalformed() {
    return malformed;
  }

  private int limit() {
    return Math.min(connection().local().maxActiveStreams(), STREAMS_WITHOUT_LIMIT);
  }

  boolean isIdle() {
    return lentStreams == 0;
  }

  long idleSince() {
    return idleSince;
  }

  String scheme() {
    return pool.scheme();
  }

  @Override
  public Channel channel() {
    return context().channel();
  }

  @Override
  public boolean checked(TcpConnectionHealth state) {
    boolean pinged = pings.pinged();
    pings = pings.check(lentStreams > 0, readSinceCheck, writtenSinceRead);
    boolean received = readSinceCheck;
    readSinceCheck = false;
    silentChecks = state == TcpConnectionHealth.SILENT ? silentChecks + 1 : 0;
    boolean gone = silentChecks >= TcpConnectionHealth.CHECKS_UNTIL_GONE
        || pings.unanswered() && state == TcpConnectionHealth.UNKNOWN;
    if (gone) {
      failure = UpstreamFailure.UNRESPONSIVE;
      close();
    } else if (ended && !received) {
      // As the pod should have done; RFC 9113, section 5.4.1. Node's server does not.
      close();
    } else if (silentChecks > 0 || pings.unanswered()) {
      // Not closed, because the pod's kernel may be alive, and responses may still come.
      retire();
    } else if (pings.pinged() && !pinged) {
      ping();
    }
    return gone;
  }

  /** Takes no more streams, and closes after the last response. */
  void retire() {
    retired = true;
    if (lentStreams == 0) {
      close();
    } else {
      pool.openEnough();
    }
  }

  Http2PodStream lend(UpstreamListener listener) {
    lentStreams++;
    var stream = new Http2PodStream(this, listener, used);
    used = true;
    return stream;
  }

  void streamReturned() {
    lentStreams--;
    if (lentStreams == 0) {
      idleSince = pool.nanoTime();
      if (retired) {
        close();
        return;
      }
    }
    pool.serveWaiting();
  }

  void close() {
    context().close();
  }

  /** Null if no more streams can be opened. */
  @Nullable Http2Stream begin(Http2PodStream upstream, Http2Headers headers, boolean last) {
    int id = connection().local().incrementAndGetNextStreamId();
    if (id < 0) {
      return null;
    }
    if (id > LAST_STREAM_ID) {
      retire();
    }
    writtenSinceRead = true;
    var written = writeHeaders(id, headers, last);
    var stream = connection().stream(id);
    if (stream != null) {
      upstream.begun(written);
      assign(stream, upstream);
    }
    return stream;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) throws Exception {
    // See UpstreamFailure.leavesInput.
    added.channel().config().setAutoClose(false);
    super.handlerAdded(added);
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext on, Object event) throws Exception {
    if (event instanceof Http2ConnectionPrefaceAndSettingsFrameWrittenEvent) {
      openWindow();
    }
    super.userEventTriggered(on, event);
  }

  @Override
  protected void onStreamError(ChannelHandlerContext on, boolean outbound, Throwable cause,
      Http2Exception.StreamException error) {
    var stream = connection().stream(error.streamId());
    if (!outbound && stream == null && error.error() == Http2Error.STREAM_CLOSED) {
      // The frame was on its way when the stream was reset; RFC 9113, section 5.1.
      return;
    }
    var upstream = of(stream);
    // STREAM_CLOSED, the error of a write to a closed stream, would hide why it was closed.
    if (upstream != null && error.error() != Http2Error.STREAM_CLOSED) {
      // Reported first, because the close that follows would report a less specific failure.
      if (!outbound) {
        pool.logMalformed(cause);
      }
      upstream.failed(outbound ? UpstreamFailure.BROKEN : UpstreamFailure.MALFORMED);
    }
    super.onStreamError(on, outbound, cause, error);
  }

  @Override
  protected void onConnectionError(ChannelHandlerContext on, boolean outbound, Throwable cause,
      @Nullable Http2Exception error) {
    malformed = !outbound && error != null;
    if (malformed && ready) {
      pool.logMalformed(cause);
    }
    // The channel stays open until its GOAWAY is sent, but no frame is read any more.
    retired = true;
    var first = failure == UpstreamFailure.RESET ? failure : UpstreamFailure.of(cause);
    if (outbound && UpstreamFailure.leavesInput(cause, first)) {
      failure = first;
      return;
    }
    super.onConnectionError(on, outbound, cause, error);
  }

  @Override
  public void channelRead(ChannelHandlerContext on, Object message) throws Exception {
    readSinceCheck = true;
    everRead = true;
    lastReadNanos = pool.nanoTime();
    writtenSinceRead = false;
    super.channelRead(on, message);
  }

  @Override
  public Future<Void> writeContent(int stream, HttpContent part) {
    writtenSinceRead = true;
    return super.writeContent(stream, part);
  }

  /**
   * Adds to the budget of control frames: gRPC servers in Go may answer each part of a request with a
   * PING to estimate the bandwidth, and any pod answers each with WINDOW_UPDATEs.
   */
  @Override
  protected void wroteMessageFrame(int bytes) {
    budget.earn(bytes);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext on, Throwable cause) throws Exception {
    if (cause instanceof IOException) {
      failure = UpstreamFailure.of(cause);
    }
    super.exceptionCaught(on, cause);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext on) throws Exception {
    completeReads();
    super.channelReadComplete(on);
  }

  @Override
  public void channelInactive(ChannelHandlerContext on) throws Exception {
    pool.retired(this);
    super.channelInactive(on);
    completeReads();
  }

  /** Calls {@link Http2PodStream#readCompletes} once all frames of this read are handled. */
  void completeLater(Http2PodStream stream) {
    read.add(stream);
  }

  private void completeReads() {
    for (int i = 0; i < read.size(); i++) {
      read.get(i).readCompletes();
    }
    read.clear();
  }

  private final class Events extends FrameEvents {
    @Override
    public void onSettingsRead(ChannelHandlerContext on, Http2Settings settings)
        throws Http2Exception {
      if (!ready) {
        ready = true;
        pool.watch(Http2PodSession.this);
        pool.opened(Http2PodSession.this);
      } else {
        pool.serveWaiting();
      }
    }

    @Override
    protected void headRead(int id, IncomingHttp2Head head, boolean last) throws Http2Exception {
      var upstream = of(connection().stream(id));
      pings = pings.answered();
      budget.earn(0);
      if (upstream != null) {
        upstream.headRead(head, last);
      }
    }

    @Override
    public int onDataRead(ChannelHandlerContext on, int id, ByteBuf data, int padding,
        boolean last) throws Http2Exception {
      pings = pings.answered();
      if (last || data.isReadable()) {
        budget.earn(data.readableBytes());
      }
      var upstream = of(connection().stream(id));
      if (upstream == null) {
        return windowBytes(data, padding);
      }
      return upstream.dataRead(data, windowBytes(data, padding), last);
    }

    @Override
    public void onRstStreamRead(ChannelHandlerContext on, int id, long error) {
      var upstream = of(connection().stream(id));
      if (upstream != null) {
        upstream.resetRead(error);
      }
    }

    @Override
    public void onStreamClosed(Http2Stream stream) {
      var upstream = of(stream);
      if (upstream != null) {
        upstream.closed(failureOf(stream.id()));
      }
    }

    private UpstreamFailure failureOf(int stream) {
      int last = connection().local().lastStreamKnownByPeer();
      if (connection().goAwayReceived() && stream > last) {
        return UpstreamFailure.NOT_PROCESSED;
      }
      return ended && stream == last ? UpstreamFailure.CONNECTION_ERROR : failure;
    }

    @Override
    public void onGoAwayReceived(int last, long error, ByteBuf text) {
      ended |= error != Http2Error.NO_ERROR.code();
      retire();
    }
  }

  /**
   * Decides when an HTTP/2 connection needs a PING, and when missing answers mean that the pod is
   * gone. A PING is due if a request is in flight and nothing was received for a whole interval since
   * the last write. Without writes the kernel's keep-alive is enough.
   *
   * <p>It allows at most three PINGs between two parts of responses: gRPC servers end a connection
   * with {@code too_many_pings} after four.
   *
   * @param waited the number of checks since the last write in which nothing was received
   * @param pinged whether a PING is unanswered
   * @param sent the number of PINGs since the last part of a response
   */
  record Http2KeepAlive(int waited, boolean pinged, int sent) {
    public static final Http2KeepAlive NONE = new Http2KeepAlive(0, false, 0);
    private static final int MAX_SENT = 3;
    private static final int PING_AFTER = 2;
    private static final int GIVE_UP = 4;

    /**
     * A PING is due when {@link #pinged} becomes true.
     *
     * @param received whether anything was received since the previous check
     * @param waiting whether anything was written since the last read
     */
    public Http2KeepAlive check(boolean inUse, boolean received, boolean waiting) {
      if (!inUse || !waiting) {
        return new Http2KeepAlive(0, false, sent);
      }
      if (received) {
        return new Http2KeepAlive(1, false, sent);
      }
      boolean ping = waited + 1 == PING_AFTER && sent < MAX_SENT;
      return new Http2KeepAlive(waited + 1, pinged || ping, ping ? sent + 1 : sent);
    }

    /** A part of a response has come. */
    public Http2KeepAlive answered() {
      return sent == 0 ? this : new Http2KeepAlive(waited, pinged, 0);
    }

    public boolean unanswered() {
      return pinged && waited >= GIVE_UP;
    }
  }
}
