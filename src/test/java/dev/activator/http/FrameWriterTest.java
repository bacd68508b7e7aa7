package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.http.Http2Setup.FrameGuard;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class FrameWriterTest {
  private static final int FRAME_HEADER_BYTES = 9;

  private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelOutboundHandlerAdapter());
  private final ChannelHandlerContext context = channel.pipeline().firstContext();
  private final FrameWriter writer = new FrameWriter(3);

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private List<ByteBuf> sent() {
    channel.flush();
    var all = new ArrayList<ByteBuf>();
    for (ByteBuf one = channel.readOutbound(); one != null; one = channel.readOutbound()) {
      all.add(one);
    }
    return all;
  }

  private static Http2Headers response(HttpHeaders fields) {
    return new OutgoingHttp2Head().response("200", fields);
  }

  private static final class Seen extends Http2EventAdapter {
    private final List<String> frames = new ArrayList<>();

    @Override
    public void onHeadersRead(ChannelHandlerContext on, int stream, Http2Headers headers,
        int padding, boolean last) {
      var head = (IncomingHttp2Head) headers;
      frames.add(stream + " " + head.status() + head.fields().entries() + last);
    }

    @Override
    public int onDataRead(ChannelHandlerContext on, int stream, ByteBuf data, int padding,
        boolean last) {
      frames.add(stream + " " + data.readableBytes() + " bytes " + last);
      return 0;
    }
  }

  private List<String> read(List<ByteBuf> buffers) throws Exception {
    var seen = new Seen();
    var all = Unpooled.wrappedBuffer(buffers.toArray(ByteBuf[]::new));
    new FrameReader(new IncomingHttp2Head.Decoder(true, 1 << 20), FrameGuard.NONE).readFrame(
        context, all,
        seen);
    assertThat(all.isReadable()).isFalse();
    all.release();
    return seen.frames;
  }

  @Test
  void writesAHeadAsOneBuffer() throws Exception {
    writer.writeHeaders(context, 3, response(new HeaderFieldList(false).add("Own", "x")), 0, true,
        channel.newPromise());

    var sent = sent();
    assertThat(sent).hasSize(1);
    assertThat(read(sent)).containsExactly("3 200[own=x]true");
  }

  @Test
  void writesALargeHeadInFramesThatTheOtherEndTakes() throws Exception {
    var large = "x".repeat(40_000);
    writer.writeHeaders(context, 3, response(new HeaderFieldList(false).add("Own", large)), 0,
        false,
        channel.newPromise());

    var sent = sent();
    // x takes seven bits in Huffman's code: 35,000 bytes
    assertThat(sent.stream().mapToInt(ByteBuf::readableBytes).sum()).isGreaterThan(35_000);
    assertThat(sent.getFirst().getUnsignedMedium(0)).isEqualTo(writer.maxFrameSize());
    assertThat(read(sent)).containsExactly("3 200[own=" + large + "]false");
  }

  @Test
  void releasesALargeHeadThatThereIsNoMemoryFor() {
    var made = new ArrayList<ByteBuf>();
    channel.config().setAllocator(new PooledByteBufAllocator(false) {
      @Override
      public ByteBuf buffer(int bytes) {
        if (!made.isEmpty()) {
          throw new OutOfMemoryError();
        }
        made.add(super.buffer(bytes));
        return made.getFirst();
      }
    });
    var head = response(new HeaderFieldList(false).add("Own", "x".repeat(40_000)));

    assertThatThrownBy(
        () -> writer.writeHeaders(context, 3, head, 0, false, channel.newPromise()))
        .isInstanceOf(OutOfMemoryError.class);

    assertThat(made.getFirst().refCnt()).isZero();
  }

  @Test
  void writesSmallDataAsOneBuffer() throws Exception {
    var data = Unpooled.buffer().writeZero(1_000);
    writer.writeData(context, 3, data, 0, true, channel.newPromise());

    var sent = sent();
    assertThat(data.refCnt()).isZero();
    assertThat(sent).hasSize(1);
    assertThat(read(sent)).containsExactly("3 1000 bytes true");
  }

  @Test
  void copiesNoLargeData() throws Exception {
    var data = Unpooled.buffer().writeZero(10_000);
    writer.writeData(context, 3, data, 0, false, channel.newPromise());

    var sent = sent();
    assertThat(sent).extracting(ByteBuf::readableBytes).containsExactly(FRAME_HEADER_BYTES, 10_000);
    assertThat(sent.getLast()).isSameAs(data);
    assertThat(read(sent)).containsExactly("3 10000 bytes false");
  }

  @Test
  void writesNoFrameThatIsTooLong() throws Exception {
    writer.writeData(context, 3, Unpooled.buffer().writeZero(40_000), 0, true,
        channel.newPromise());

    assertThat(read(sent())).containsExactly("3 16384 bytes false", "3 16384 bytes false",
        "3 7232 bytes true");
  }

  @Test
  void notifies_whenTooManyControlFramesAreUnread() {
    var received = new AtomicInteger();
    writer.onOverLimit(received::incrementAndGet);
    var reads = new boolean[]{true};
    channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
      @Override
      public void flush(ChannelHandlerContext on) {
        if (reads[0]) {
          on.flush();
        }
      }
    });
    for (int i = 0; i < 10; i++) {
      writer.writePing(context, true, i, channel.newPromise());
      writer.writeSettingsAck(context, channel.newPromise());
    }
    assertThat(received).hasValue(0);

    reads[0] = false;
    for (int i = 0; i < 4; i++) {
      writer.writeRstStream(context, 1, 0, channel.newPromise());
    }

    assertThat(received).hasValue(1);
  }

  /** Memory runs out as a buffer grows. */
  private static final class FullMemory extends AbstractByteBufAllocator {
    private boolean full = true;

    @Override
    public ByteBuf buffer(int bytes) {
      return new UnpooledHeapByteBuf(this, bytes, Integer.MAX_VALUE) {
        @Override
        public ByteBuf capacity(int more) {
          if (full) {
            throw new OutOfMemoryError("on purpose");
          }
          return super.capacity(more);
        }
      };
    }

    @Override
    protected ByteBuf newHeapBuffer(int bytes, int most) {
      return Unpooled.buffer(bytes, most);
    }

    @Override
    protected ByteBuf newDirectBuffer(int bytes, int most) {
      return Unpooled.buffer(bytes, most);
    }

    @Override
    public boolean isDirectBufferPooled() {
      return false;
    }
  }

  /** The other end would not know the fields that were indexed, and take others for them. */
  @Test
  void writesNoHeads_afterOneOfWhichOnlyAPartWasEncoded() throws Exception {
    var memory = new FullMemory();
    channel.config().setAllocator(memory);
    var fields = new HeaderFieldList(false).add("user", "one").add("large", "x".repeat(300));
    var first = writer.writeHeaders(context, 3, response(fields), 0, true, channel.newPromise());
    assertThat(first.cause()).isInstanceOf(Http2Exception.class);
    memory.full = false;

    var second = writer.writeHeaders(context, 5,
        response(new HeaderFieldList(false).add("user", "one")),
        0, true, channel.newPromise());

    assertThat(read(sent())).isEmpty();
    assertThat(second.cause()).isInstanceOf(Http2Exception.class);
  }
}
