package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.http.Http2Setup.FrameGuard;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameReader;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Netty's own reader is the oracle. */
final class FrameReaderTest {
  private static final int MAX_SMALL_FRAGMENTS = 16;
  private static final int MAX_HEAD_BYTES = 4 << 10;
  private static final int END_HEADERS = 4;

  private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private static FrameReader ours() {
    return new FrameReader(new IncomingHttp2Head.Decoder(true, MAX_HEAD_BYTES), FrameGuard.NONE);
  }

  private static Http2FrameReader nettys() {
    return new DefaultHttp2FrameReader(new IncomingHttp2Head.Decoder(true, MAX_HEAD_BYTES),
        MAX_SMALL_FRAGMENTS);
  }

  /** Everything that the reader says of these bytes, which come in parts of this size. */
  private List<String> read(Http2FrameReader reader, byte[] bytes, int part) {
    var seen = new ArrayList<String>();
    var listener = (Http2FrameListener) Proxy.newProxyInstance(getClass().getClassLoader(),
        new Class<?>[]{Http2FrameListener.class}, (_, method, arguments) -> {
          if (!method.getName().equals("onUnknownFrame")) {
            seen.add(event(method.getName(), arguments));
          }
          return method.getReturnType() == int.class ? 0 : null;
        });
    ChannelHandlerContext context = channel.pipeline().firstContext();
    ByteBuf in = Unpooled.buffer();
    for (int from = 0; from < bytes.length; from += part) {
      in.writeBytes(bytes, from, Math.min(part, bytes.length - from));
      int before;
      do {
        before = in.readerIndex();
        try {
          reader.readFrame(context, in, listener);
        } catch (Http2Exception failure) {
          seen.add(failure.error() + (failure instanceof Http2Exception.StreamException error
              ? " of stream " + error.streamId()
              : " of the connection"));
        }
      } while (in.isReadable() && in.readerIndex() > before);
    }
    reader.close();
    in.release();
    return seen;
  }

  private static String event(String name, Object[] arguments) {
    var text = new StringBuilder(name);
    for (int i = 1; i < arguments.length; i++) {
      // The priority of a head means nothing.
      if (!name.equals("onHeadersRead") || i < 3 || i > arguments.length - 3) {
        text.append(' ').append(switch (arguments[i]) {
          case ByteBuf data -> ByteBufUtil.hexDump(data);
          case IncomingHttp2Head head -> head.method() + "" + head.path() + head.fields().entries();
          case Http2Headers other -> throw new IllegalStateException(other.toString());
          case Object other -> other.toString();
        });
      }
    }
    return text.toString();
  }

  private static ByteBuf frame(ByteBuf to, int type, int flags, int stream, byte[] payload) {
    return to.writeMedium(payload.length).writeByte(type).writeByte(flags).writeInt(stream)
        .writeBytes(payload);
  }

  private static byte[] bytes(ByteBuf from) {
    return ByteBufUtil.getBytes(from);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void readsWhatNettysReaderReads(long seed) {
    var random = new Random(seed);
    int errors = 0;
    int heads = 0;
    for (int round = 0; round < 1_500; round++) {
      var out = Unpooled.buffer();
      for (int i = 0; i < 6; i++) {
        randomFrame(random, out);
      }
      byte[] all = bytes(out);

      var seen = read(ours(), all, 1 + random.nextInt(all.length));

      assertThat(seen).as("round %d: %s", round, ByteBufUtil.hexDump(all))
          .isEqualTo(read(nettys(), all, all.length));
      errors += seen.stream().anyMatch(one -> one.endsWith("connection")) ? 1 : 0;
      heads += seen.stream().anyMatch(one -> one.startsWith("onHeadersRead")) ? 1 : 0;
    }
    assertThat(errors).isBetween(500, 1_450);
    assertThat(heads).isGreaterThan(100);
  }

  /** Lets one frame begin in each call, and counts. */
  private static final class OneAtATime implements FrameGuard {
    private boolean begun;
    private int frames;
    private int partialHeadBytes;

    @Override
    public boolean mayBegin(int type, int flags, int length) {
      boolean may = !begun;
      begun = true;
      frames += may ? 1 : 0;
      return may;
    }

    @Override
    public void readEnds(int bytes, int tableBytes) {
      begun = false;
      partialHeadBytes = bytes;
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void leavesFramesUnreadWhileItsLimitsSaySo(long seed) {
    var random = new Random(seed);
    for (int round = 0; round < 500; round++) {
      var out = Unpooled.buffer();
      for (int i = 0; i < 6; i++) {
        randomFrame(random, out);
      }
      byte[] all = bytes(out);

      var seen = read(
          new FrameReader(new IncomingHttp2Head.Decoder(true, MAX_HEAD_BYTES), new OneAtATime()),
          all, 1 + random.nextInt(all.length));

      assertThat(seen).as("round %d: %s", round, ByteBufUtil.hexDump(all))
          .isEqualTo(read(ours(), all, all.length));
    }
  }

  @Test
  void reportsTheBytesOfAHeadUntilItIsComplete() {
    var limits = new OneAtATime();
    var reader = new FrameReader(new IncomingHttp2Head.Decoder(true, MAX_HEAD_BYTES), limits);
    var parts = new ArrayList<byte[]>();
    parts.add(bytes(frame(Unpooled.buffer(), Http2FrameTypes.SETTINGS, 0, 0, new byte[12])));
    parts.add(bytes(frame(Unpooled.buffer(), Http2FrameTypes.HEADERS, 0, 1, new byte[500])));
    parts.add(bytes(frame(Unpooled.buffer(), Http2FrameTypes.CONTINUATION, 0, 1, new byte[100])));
    parts.add(new byte[]{0, 0, 3, Http2FrameTypes.CONTINUATION, END_HEADERS, 0, 0, 0, 1, 0});
    parts.add(new byte[2]);
    var reported = new ArrayList<Integer>();

    var in = Unpooled.buffer();
    for (var part : parts) {
      try {
        reader.readFrame(channel.pipeline().firstContext(), in.writeBytes(part),
            new Http2FrameAdapter());
      } catch (Http2Exception notHpack) {
        // The head is complete.
      }
      reported.add(limits.partialHeadBytes);
    }

    assertThat(reported).containsExactly(0, 509, 609, 619, 0);
    assertThat(limits.frames).isEqualTo(4);
    reader.close();
    in.release();
  }

  /** Often valid. */
  private static void randomFrame(Random random, ByteBuf out) {
    int type = random.nextInt(11);
    // A push is an error here, in whatever state; Netty's reader leaves that to others.
    type = type == Http2FrameTypes.PUSH_PROMISE ? Http2FrameTypes.HEADERS : type;
    int stream = switch (type) {
      case Http2FrameTypes.SETTINGS, Http2FrameTypes.PING, Http2FrameTypes.GO_AWAY ->
        random.nextInt(12) / 11;
      default -> random.nextInt(12) == 0 ? 0 : 1 + 2 * random.nextInt(2);
    };
    int length = switch (type) {
      case Http2FrameTypes.PRIORITY -> 5;
      case Http2FrameTypes.RST_STREAM, Http2FrameTypes.WINDOW_UPDATE -> 4;
      case Http2FrameTypes.SETTINGS -> 6 * random.nextInt(3);
      case Http2FrameTypes.PING, Http2FrameTypes.GO_AWAY -> 8;
      default -> random.nextInt(12);
    };
    length = random.nextInt(20) == 0 ? random.nextInt(10) : length;
    var payload = new byte[length];
    for (int i = 0; i < length; i++) {
      // Indexes of HPACK's static table, or small numbers.
      boolean isHead = type == Http2FrameTypes.HEADERS || type == Http2FrameTypes.CONTINUATION;
      payload[i] = (byte) (isHead && random.nextInt(4) > 0 ? 0x8f + i : random.nextInt(4));
    }
    int flags = random.nextInt(3) == 0 ? random.nextInt(256) : END_HEADERS;
    flags = type == Http2FrameTypes.SETTINGS && random.nextInt(4) > 0 ? 0 : flags;
    frame(out, type, flags, stream, payload);
  }

  @Test
  void readsAHeadInParts() {
    var out = Unpooled.buffer();
    frame(out, Http2FrameTypes.HEADERS, 1, 3, new byte[]{(byte) 0x82});
    frame(out, Http2FrameTypes.CONTINUATION, 0, 3, new byte[]{(byte) 0x84});
    frame(out, Http2FrameTypes.CONTINUATION, END_HEADERS, 3, new byte[]{(byte) 0x90});

    assertThat(read(ours(), bytes(out), 1))
        .containsExactly("onHeadersRead 3 GET/[accept-encoding=gzip, deflate] 0 true");
  }

  @Test
  void endsAHeadOfTooManySmallParts() {
    var out = Unpooled.buffer();
    frame(out, Http2FrameTypes.HEADERS, 0, 3, new byte[0]);
    for (int i = 0; i < 20; i++) {
      frame(out, Http2FrameTypes.CONTINUATION, 0, 3, new byte[0]);
    }

    var seen = read(ours(), bytes(out), 1 << 10);

    assertThat(seen).containsExactly("ENHANCE_YOUR_CALM of the connection")
        .isEqualTo(read(nettys(), bytes(out), 1 << 10));
  }

  @Test
  void endsAHeadOfTooManyBytes() {
    var out = Unpooled.buffer();
    frame(out, Http2FrameTypes.HEADERS, 0, 3, new byte[3 << 10]);
    frame(out, Http2FrameTypes.CONTINUATION, 0, 3, new byte[3 << 10]);

    var seen = read(ours(), bytes(out), 1 << 10);

    assertThat(seen).containsExactly("PROTOCOL_ERROR of the connection")
        .isEqualTo(read(nettys(), bytes(out), 1 << 10));
  }

  @Test
  void refusesAFrameThatIsTooLongBeforeItHasCome() {
    var out = Unpooled.buffer().writeMedium((16 << 10) + 1).writeByte(0).writeByte(0).writeInt(1);

    assertThat(read(ours(), bytes(out), 9)).containsExactly("FRAME_SIZE_ERROR of the connection");
  }

  @Test
  void refusesAPush() {
    var out = frame(Unpooled.buffer(), Http2FrameTypes.PUSH_PROMISE, END_HEADERS, 1, new byte[8]);

    assertThat(read(ours(), bytes(out), 32)).containsExactly("PROTOCOL_ERROR of the connection");
  }

  @Test
  void readsNoMore_afterAnErrorOfItsListener() throws Exception {
    var reader = ours();
    var out = Unpooled.buffer();
    for (int i = 0; i < 2; i++) {
      out.writeMedium(Long.BYTES).writeByte(Http2FrameTypes.PING).writeByte(0).writeInt(0)
          .writeLong(i);
    }
    var pings = new ArrayList<Long>();
    var listener = new Http2FrameAdapter() {
      @Override
      public void onPingRead(ChannelHandlerContext on, long data) {
        pings.add(data);
        throw new StackOverflowError("on purpose");
      }
    };
    var context = channel.pipeline().firstContext();
    assertThatThrownBy(() -> reader.readFrame(context, out, listener))
        .isInstanceOf(StackOverflowError.class);

    reader.readFrame(context, out, listener);

    assertThat(pings).containsExactly(0L);
    assertThat(out.isReadable()).isFalse();
    out.release();
  }
}
