package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.activator.http.Http2Setup.FrameGuard;
import dev.activator.testing.VirtualLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.util.AsciiString;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a stream costs in memory, counted by the JVM. */
final class Http2AllocationTest {
  private static final int STREAMS = 20_000;
  private static final int END_OF_BOTH = 5;

  private final ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final EmbeddedChannel channel = new EmbeddedChannel();
  /** Indexes of HPACK's static table: GET, http, /, and a literal authority. */
  private final ByteBuf request = Unpooled.buffer()
      .writeMedium(7).writeByte(Http2FrameTypes.HEADERS).writeByte(END_OF_BOTH).writeInt(1)
      .writeBytes(new byte[]{(byte) 0x82, (byte) 0x86, (byte) 0x84, 0x01, 2, 'a', 'b'});
  private int stream = 1;

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
    request.release();
  }

  /** Answers each request with a head and a body. */
  private static final class Answering
      extends AbstractHttp2Handler<AbstractHttp2Handler.StreamUser> {
    private static final ByteBuf BODY = Unpooled.unreleasableBuffer(
        Unpooled.buffer().writeZero(100));
    private final HttpHeaders fields = new HeaderFieldList(false).add(AsciiString.of("own"),
        AsciiString.of("x"));

    private Answering() {
      super(Http2Setup.server(Http2Settings.defaultSettings().maxConcurrentStreams(100)
          .maxHeaderListSize(1 << 16), FrameGuard.NONE), new WindowBudget(0),
          VirtualLoop.nearOverflow());
      decoder().frameListener(new FrameEvents() {
        @Override
        protected void headRead(int id, IncomingHttp2Head head, boolean last) {
          writeHeaders(id, head().response("200", fields), false);
          writeContent(id, new DefaultLastHttpContent(BODY.duplicate(), EmptyHttpHeaders.INSTANCE));
        }
      });
    }
  }

  private int ask() {
    request.setInt(5, stream);
    stream += 2;
    request.readerIndex(0);
    channel.writeInbound(request.retain());
    int bytes = 0;
    for (ByteBuf sent = channel.readOutbound(); sent != null; sent = channel.readOutbound()) {
      bytes += sent.readableBytes();
      sent.release();
    }
    return bytes;
  }

  @Test
  void aStreamLeavesLittleGarbage() {
    // Not the pooled one: other tests may have it watched for leaks, with a stack trace for each buffer.
    channel.config().setAllocator(new UnpooledByteBufAllocator(false, true));
    var answering = new Answering();
    channel.pipeline().addLast(answering);
    var opening = Http2CodecUtil.connectionPrefaceBuf();
    channel.writeInbound(Unpooled.copiedBuffer(opening,
        Unpooled.buffer().writeMedium(0).writeByte(Http2FrameTypes.SETTINGS).writeByte(0)
            .writeInt(0)));
    opening.release();
    // The window of the connection, so that none is short of it.
    channel.writeInbound(Unpooled.buffer().writeMedium(4).writeByte(Http2FrameTypes.WINDOW_UPDATE)
        .writeByte(0).writeInt(0).writeInt(1 << 30));
    ask();
    for (int i = 0; i < STREAMS; i++) {
      assertThat(ask()).isEqualTo(9 + 1 + 9 + 100 + 1);
    }

    long before = thread.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < STREAMS; i++) {
      ask();
    }

    long each = (thread.getCurrentThreadAllocatedBytes() - before) / STREAMS;
    assertThat(answering.head().isEmpty()).isTrue();
    // 270 more if data went through the queue of Netty's flow control
    assertThat(each).isLessThan(1_620);
  }
}
