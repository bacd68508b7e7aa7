package dev.activator.upstream;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.LoopGroup;
import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.tls.DialTarget;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.DeadConnectionDetector.TcpConnectionHealth;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2Error;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One HTTP/2 connection to a pod, byte by byte. */
class Http2PodSessionTest {
  private static final Destination POD = new Destination("127.0.0.1", 1);

  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final LoopGroup loops = new LoopGroup(group);
  private final Http2Pool pool = (Http2Pool) Quiescence
      .watch(new ConnectionPoolsByLoop(loops, IdleLimits.DEFAULT,
          new Random(1), new PodTls(TestRevisions.unused())))
      .of(loops.all().getFirst()).to(DialTarget.plain(POD), PortProtocol.H2C);
  private final Http2PodSession session = Http2PodSession.of(pool);
  private final StuckWrites stuck = new StuckWrites();
  private final EmbeddedChannel channel = new EmbeddedChannel(stuck, session);

  @BeforeEach
  void opens() {
    receives(RawHttp2.SETTINGS, 0, 0, new byte[0]);
  }

  @AfterEach
  void stop() {
    List.copyOf(stuck.waiting).forEach(write -> write.tryFailure(new ClosedChannelException()));
    channel.finishAndReleaseAll();
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
  }

  private void receives(int type, int flags, int stream, byte[] payload) {
    channel.writeInbound(Unpooled.wrappedBuffer(RawHttp2.bytes(type, flags, stream, payload)));
    channel.runPendingTasks();
    channel.releaseOutbound();
  }

  private void answers(int stream) {
    receives(RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, stream,
        RawHttp2.encode(":status", "204"));
  }

  private static DefaultHttpRequest request(HttpMethod method) {
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, method, "/");
    request.headers().set("Host", "hello");
    return request;
  }

  /** A GET whose head is sent. */
  private UpstreamConnection get(RecordingListener listener) {
    var connection = session.lend(listener);
    connection.write(request(HttpMethod.GET));
    connection.write(LastHttpContent.EMPTY_LAST_CONTENT);
    connection.flush();
    channel.runPendingTasks();
    return connection;
  }

  /** The next stream is this one. */
  private void nextStreamIs(int id) throws Exception {
    session.connection().local().createStream(id - 2, true).close();
  }

  @Test
  void isIdleSinceItWasOpened_whenNoRequestHasUsedIt() {
    assertThat(pool.nanoTime() - session.idleSince()).isBetween(0L, TimeUnit.MINUTES.toNanos(2));
  }

  @Test
  void isNotLent_whenItHasFailedAndItsGoAwayIsNotSentYet() {
    assertThat(session.hasRoom()).isTrue();
    stuck.now = true;

    // a SETTINGS frame of seven bytes
    receives(RawHttp2.SETTINGS, 0, 0, new byte[7]);

    assertThat(channel.isActive()).isTrue();
    assertThat(session.hasRoom()).isFalse();
  }

  @Test
  void closesAConnection_whosePodReportsAnErrorOfItAndIsSilent() {
    var other = new RecordingListener();
    get(other);
    var last = new RecordingListener();
    get(last);
    goAway(session.connection().local().lastStreamCreated(), Http2Error.COMPRESSION_ERROR);

    session.checked(TcpConnectionHealth.ALIVE);
    assertThat(other.failure).isNull();
    assertThat(last.failure).isNull();

    session.checked(TcpConnectionHealth.ALIVE);
    channel.runPendingTasks();
    assertThat(other.failure).isEqualTo(UpstreamFailure.CLOSED);
    assertThat(last.failure).isEqualTo(UpstreamFailure.CONNECTION_ERROR);
    assertThat(channel.isActive()).isFalse();
  }

  @Test
  void waitsForResponses_afterAPodHasSaidThatItTakesNoMoreRequests() {
    var listener = new RecordingListener();
    get(listener);
    int stream = session.connection().local().lastStreamCreated();
    goAway(stream, Http2Error.NO_ERROR);

    for (int i = 0; i < 5; i++) {
      session.checked(TcpConnectionHealth.ALIVE);
    }
    channel.runPendingTasks();
    assertThat(channel.isActive()).isTrue();
    answers(stream);
    assertThat(listener.failure).isNull();
    assertThat(listener.complete).isTrue();
  }

  private void goAway(int last, Http2Error error) {
    receives(RawHttp2.GOAWAY, 0, 0, RawHttp2.goAwayPayload(last, (int) error.code()));
  }

  @Test
  void takesNoWindow_forAStreamThatEndsInTheCallWithItsData() {
    long free = pool.windows().free();
    var listener = new RecordingListener() {
      private @Nullable UpstreamConnection connection;

      @Override
      public void content(HttpContent content) {
        super.content(content);
        Objects.requireNonNull(connection).close();
      }
    };
    var connection = session.lend(listener);
    listener.connection = connection;
    connection.write(request(HttpMethod.POST));
    // More than the pod's window, so that the stream is closed at once.
    connection.write(new DefaultHttpContent(Unpooled.buffer().writeZero(70_000)));
    connection.flush();
    channel.runPendingTasks();
    int stream = session.connection().local().lastStreamCreated();
    receives(RawHttp2.HEADERS, RawHttp2.END_HEADERS, stream, RawHttp2.encode(":status", "200"));

    receives(RawHttp2.DATA, 0, stream, new byte[16_000]);

    assertThat(channel.isActive()).isTrue();
    assertThat(session.hasRoom()).isTrue();
    assertThat(pool.windows().free()).isEqualTo(free);
  }

  /** Over TLS, Netty posts the event that the channel is writable again. */
  @Test
  void writesTheNextPartAfterThisOne_whenTheChannelIsWritableAgainButHasNotSaidSo() {
    var listener = new RecordingListener() {
      private @Nullable UpstreamConnection connection;
      private boolean wrote;

      @Override
      public void writabilityChanged() {
        if (!wrote && connection != null && connection.isWritable()) {
          wrote = true;
          connection.write(new DefaultLastHttpContent(Unpooled.copiedBuffer("two", US_ASCII)));
        }
      }
    };
    var connection = session.lend(listener);
    connection.write(request(HttpMethod.POST));
    connection.flush();
    channel.runPendingTasks();
    var buffer = Objects.requireNonNull(channel.unsafe().outboundBuffer());
    buffer.setUserDefinedWritability(1, false);
    channel.runPendingTasks();
    channel.releaseOutbound();
    buffer.setUserDefinedWritability(1, true);

    listener.connection = connection;
    connection.write(new DefaultHttpContent(Unpooled.copiedBuffer("one", US_ASCII)));
    channel.runPendingTasks();
    connection.flush();
    channel.runPendingTasks();

    var sent = new StringBuilder();
    for (ByteBuf one = channel.readOutbound(); one != null; one = channel.readOutbound()) {
      sent.append(one.toString(US_ASCII));
      one.release();
    }
    assertThat(sent.toString().replaceAll("[^a-z]", "")).isEqualTo("onetwo");
  }

  @Test
  void isRetired_whenThousandsOfStreamIdsAreLeft() throws Exception {
    nextStreamIs(Integer.MAX_VALUE - 20_000);
    var listeners = new ArrayList<RecordingListener>();
    var connections = new ArrayList<UpstreamConnection>();

    while (session.hasRoom() && listeners.size() < 20_000) {
      var listener = new RecordingListener();
      listeners.add(listener);
      connections.add(get(listener));
      if (connections.size() > 10) {
        answers(session.connection().local().lastStreamCreated() - 20);
        connections.removeFirst().release();
      }
    }

    assertThat(session.connection().local().lastStreamCreated())
        .isBetween(Integer.MAX_VALUE - 20_000, Integer.MAX_VALUE - 8_000);
    assertThat(listeners).allMatch(listener -> listener.failure == null);
    assertThat(pool.reuse(new RecordingListener())).isNull();

    // and it closes after its last response
    assertThat(channel.isActive()).isTrue();
    int last = session.connection().local().lastStreamCreated();
    for (int id = last - 2 * (connections.size() - 1); id <= last; id += 2) {
      answers(id);
      connections.removeFirst().release();
    }
    assertThat(channel.isActive()).isFalse();
  }

  @Test
  void beginsNoStream_whenAllIdsAreUsed() throws Exception {
    nextStreamIs(Integer.MAX_VALUE);
    var last = new RecordingListener();
    get(last);
    var next = new RecordingListener();
    get(next);

    assertThat(last.failure).isNull();
    assertThat(next.failure).isEqualTo(UpstreamFailure.NOT_PROCESSED);
    answers(Integer.MAX_VALUE);
    assertThat(last.complete).isTrue();
  }

  @Test
  void dropsTheBytesThatWaitForAWindow_whenThePodHasAnswered() throws Exception {
    // given a pod that takes ten bytes of a stream
    receives(RawHttp2.SETTINGS, 0, 0,
        ByteBuffer.allocate(6).putShort((short) RawHttp2.INITIAL_WINDOW_SIZE).putInt(10).array());
    var listener = new RecordingListener();
    var connection = session.lend(listener);
    connection.write(request(HttpMethod.POST));
    connection.write(new DefaultHttpContent(Unpooled.wrappedBuffer(new byte[30])));
    connection.write(new DefaultLastHttpContent(Unpooled.wrappedBuffer(new byte[70])));
    connection.flush();
    channel.runPendingTasks();
    var windows = session.connection().remote().flowController();
    var stream = session.connection().stream(3);
    assertThat(windows.hasFlowControlled(stream)).isTrue();

    // when it answers early, and the reset cannot be sent
    answers(3);
    assertThat(listener.complete).isTrue();
    stuck.now = true;
    connection.release();
    channel.runPendingTasks();

    // then nothing is left of it
    assertThat(windows.hasFlowControlled(stream)).isFalse();
    assertThat(session.connection().numActiveStreams()).isZero();
    assertThat(session.isIdle()).isTrue();
  }

  /** As servers of gRPC in Go do, to measure the connection. */
  @Test
  void keepsTheConnection_whenThePodSendsAPingForEachPartOfABody() {
    var listener = new RecordingListener();
    var connection = session.lend(listener);
    connection.write(request(HttpMethod.POST));
    for (int i = 0; i < 20_000; i++) {
      connection.write(new DefaultHttpContent(Unpooled.wrappedBuffer(new byte[1])));
      connection.flush();
      channel.runPendingTasks();
      channel.releaseOutbound();
      receives(RawHttp2.WINDOW_UPDATE, 0, 3, new byte[]{0, 0, 0, 1});
      receives(RawHttp2.WINDOW_UPDATE, 0, 0, new byte[]{0, 0, 0, 1});
      receives(RawHttp2.PING, 0, 0, new byte[8]);
    }
    connection.write(LastHttpContent.EMPTY_LAST_CONTENT);
    connection.flush();
    channel.runPendingTasks();

    answers(3);

    assertThat(listener.failure).isNull();
    assertThat(listener.complete).isTrue();
  }

  @Test
  void survivesTheLargestWindowsThatAPodMayGive() throws Exception {
    var listener = new RecordingListener();
    var connection = session.lend(listener);
    connection.write(request(HttpMethod.POST));
    connection.flush();
    channel.runPendingTasks();
    int left = Integer.MAX_VALUE - 65_535;
    receives(RawHttp2.WINDOW_UPDATE, 0, 3, ByteBuffer.allocate(4).putInt(left).array());
    receives(RawHttp2.WINDOW_UPDATE, 0, 0, ByteBuffer.allocate(4).putInt(left).array());

    connection.write(new DefaultHttpContent(Unpooled.wrappedBuffer(new byte[1_000])));
    connection.flush();
    channel.runPendingTasks();
    assertThat(listener.failure).isNull();

    // when the stream's window would be larger than 2^31-1, then the stream ends
    receives(RawHttp2.WINDOW_UPDATE, 0, 3, ByteBuffer.allocate(4).putInt(1_001).array());
    assertThat(listener.failure).isEqualTo(UpstreamFailure.MALFORMED);
    assertThat(session.hasRoom()).isTrue();
    assertThat(session.isIdle()).isTrue();
  }

  @Test
  void failsWithTheConnection_whenSettingsMakeAWindowTooLarge() {
    var listener = new RecordingListener();
    var connection = session.lend(listener);
    connection.write(request(HttpMethod.POST));
    connection.flush();
    channel.runPendingTasks();
    receives(RawHttp2.WINDOW_UPDATE, 0, 3,
        ByteBuffer.allocate(4).putInt(Integer.MAX_VALUE - 65_535).array());

    receives(RawHttp2.SETTINGS, 0, 0,
        ByteBuffer.allocate(6).putShort((short) RawHttp2.INITIAL_WINDOW_SIZE).putInt(65_536)
            .array());

    assertThat(listener.failure).isNotNull();
    assertThat(session.hasRoom()).isFalse();
    assertThat(session.isIdle()).isTrue();
  }

  /** From some time on, nothing that is written leaves. */
  private static final class StuckWrites extends ChannelOutboundHandlerAdapter {
    private final List<ChannelPromise> waiting = new ArrayList<>();
    private boolean now;

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      if (now) {
        waiting.add(promise);
        io.netty.util.ReferenceCountUtil.release(message);
      } else {
        context.write(message, promise);
      }
    }
  }
}
