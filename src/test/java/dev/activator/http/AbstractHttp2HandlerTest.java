package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.Http2Setup.FrameGuard;
import dev.activator.testing.VirtualLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Settings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class AbstractHttp2HandlerTest {
  private static final byte[] GET = {(byte) 0x82, (byte) 0x86, (byte) 0x84, 0x01, 1, 'a'};
  private static final int END_OF_BOTH = 5;
  private static final int INITIAL_WINDOW_SIZE = 4;

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final Answering answering = new Answering();
  private boolean reads = true;

  /** Answers each request with a head, 100 bytes and a trailer. */
  private static final class Answering
      extends AbstractHttp2Handler<AbstractHttp2Handler.StreamUser> {
    private Answering() {
      super(Http2Setup.server(Http2Settings.defaultSettings().maxConcurrentStreams(100)
          .maxHeaderListSize(1 << 16), FrameGuard.NONE), new WindowBudget(0),
          VirtualLoop.nearOverflow());
      decoder().frameListener(new FrameEvents() {
        @Override
        protected void headRead(int id, IncomingHttp2Head incoming, boolean last) {
          HttpHeaders trailers = new HeaderFieldList(false).add("of", Integer.toString(id));
          writeHeaders(id, head().response("200", new HeaderFieldList(false)), false);
          writeContent(id, new DefaultLastHttpContent(Unpooled.buffer().writeZero(100), trailers));
        }
      });
    }
  }

  @BeforeEach
  void open() {
    channel.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
      @Override
      public void flush(ChannelHandlerContext on) {
        if (reads) {
          on.flush();
        }
      }
    }, answering);
    channel.writeInbound(Http2CodecUtil.connectionPrefaceBuf());
  }

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private void send(int type, int flags, int stream, ByteBuf payload) {
    channel.writeInbound(Unpooled.buffer().writeMedium(payload.readableBytes()).writeByte(type)
        .writeByte(flags).writeInt(stream).writeBytes(payload));
    payload.release();
  }

  private void settings(int window) {
    send(Http2FrameTypes.SETTINGS, 0, 0,
        Unpooled.buffer().writeShort(INITIAL_WINDOW_SIZE).writeInt(window));
    sent();
  }

  private void get(int stream) {
    send(Http2FrameTypes.HEADERS, END_OF_BOTH, stream, Unpooled.copiedBuffer(GET));
  }

  private void window(int stream, int more) {
    send(Http2FrameTypes.WINDOW_UPDATE, 0, stream, Unpooled.buffer().writeInt(more));
  }

  /** Type, length, flags and stream of each frame. */
  private List<String> sent() {
    var all = new ArrayList<String>();
    var bytes = Unpooled.buffer();
    for (ByteBuf one = channel.readOutbound(); one != null; one = channel.readOutbound()) {
      bytes.writeBytes(one);
      one.release();
    }
    while (bytes.isReadable()) {
      int length = bytes.readMedium();
      int type = bytes.readByte();
      int flags = bytes.readByte();
      int stream = bytes.readInt();
      bytes.skipBytes(length);
      all.add(switch (type) {
        case Http2FrameTypes.HEADERS -> "head";
        case Http2FrameTypes.DATA -> length + " bytes";
        case Http2FrameTypes.GO_AWAY -> "goaway";
        default -> "frame of type " + type;
      } + " of " + stream + ((flags & 1) != 0 ? ", the end" : ""));
    }
    bytes.release();
    return all;
  }

  static Stream<Throwable> failures() {
    return Stream.of(new IOException("Connection reset by peer"), new OutOfMemoryError("direct"),
        new DecoderException(new SSLException("bad record")),
        new DecoderException(new OutOfMemoryError("direct")), new IllegalStateException("a bug"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void closesAConnectionThatFailed(Throwable failure) {
    channel.pipeline().fireExceptionCaught(failure);

    assertThat(channel.isOpen()).isFalse();
    channel.checkException(); // It has been handled.
  }

  @Test
  void sendsAtOnceWhatFits() {
    settings(100);
    get(1);

    assertThat(sent()).containsExactly("head of 1", "100 bytes of 1", "head of 1, the end");
  }

  @Test
  void sendsNoMoreThanTheWindow() {
    settings(60);
    get(1);
    assertThat(sent()).containsExactly("head of 1", "60 bytes of 1");

    // another request does not pass, and its trailers are its own
    get(3);
    window(1, 39);
    assertThat(sent()).containsExactly("head of 3", "60 bytes of 3", "39 bytes of 1");

    window(1, 1);
    window(3, 40);
    assertThat(sent()).containsExactly("1 bytes of 1", "head of 1, the end", "40 bytes of 3",
        "head of 3, the end");
  }

  @Test
  void sharesTheWindowOfTheConnection() {
    settings(1 << 20);
    int left = 65_535;
    for (int stream = 1; left >= 100; stream += 2) {
      get(stream);
      left -= 100;
      assertThat(sent()).hasSize(3);
    }
    get(9_001);
    assertThat(sent()).containsExactly("head of 9001", left + " bytes of 9001");

    window(0, 1_000);
    assertThat(sent()).containsExactly(100 - left + " bytes of 9001", "head of 9001, the end");
  }

  /** Found by {@code HostilePeersTest}. */
  @Test
  void sendsNothingBehindAReset_whenTheWindowOpensBeforeItIsFlushed() {
    settings(60);
    get(1);
    sent();
    reads = false;

    answering.reset(Objects.requireNonNull(answering.connection().stream(1)), Http2Error.CANCEL);
    window(1, 100);
    reads = true;
    channel.flush();

    assertThat(sent()).containsExactly("frame of type 3 of 1");
  }

  @Test
  void endsAConnectionThatReadsNoAnswers() {
    settings(100);
    reads = false;
    for (int i = 0; i < 1_000; i++) {
      send(Http2FrameTypes.PING, 0, 0, Unpooled.buffer().writeLong(i));
    }
    assertThat(channel.isActive()).isTrue();

    send(Http2FrameTypes.PING, 0, 0, Unpooled.buffer().writeLong(1));

    assertThat(channel.isActive()).isFalse();
  }
}
