package dev.activator.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes HTTP/2 frames. It writes a head, or a small DATA frame, as one buffer with one promise,
 * and limits the control frames that the peer has not read.
 */
// Promises report failures.
@SuppressWarnings("FutureReturnValueIgnored")
final class FrameWriter extends DefaultHttp2FrameWriter {
  private static final int FRAME_HEADER_BYTES = 9;
  /** The initial size of a head's buffer, enough for usual heads. */
  private static final int HEAD_BYTES = 256;
  /**
   * The maximum size of data that is copied behind its frame header; copying costs less than a
   * second buffer.
   */
  private static final int SMALL_DATA_BYTES = 1 << 10;

  private final Http2HeadersEncoder heads;
  private final int maxControlFrames;
  private int controlFrames;
  /**
   * The error that stopped the encoding of a head. The peer then lacks HPACK entries that later
   * heads would refer to.
   */
  private @Nullable Exception partlyEncoded;
  private Runnable overLimit = () -> {
  };
  private IntConsumer messageFrame = _ -> {
  };

  FrameWriter(int maxControlFrames) {
    // The limit of a head's size is advisory, and the peer enforces it.
    this(new DefaultHttp2HeadersEncoder(Http2HeadersEncoder.NEVER_SENSITIVE, true),
        maxControlFrames);
  }

  private FrameWriter(Http2HeadersEncoder heads, int maxControlFrames) {
    super(heads);
    this.heads = heads;
    this.maxControlFrames = maxControlFrames;
  }

  /**
   * @param action runs when the peer leaves too many answers to PING, SETTINGS and errors unread
   */
  void onOverLimit(Runnable action) {
    overLimit = action;
  }

  /** @param action gets the size of each frame of a head or body that is written */
  void onMessageFrame(IntConsumer action) {
    messageFrame = action;
  }

  @Override
  public ChannelFuture writeHeaders(ChannelHandlerContext context, int stream, Http2Headers headers,
      int padding, boolean last, ChannelPromise promise) {
    if (partlyEncoded != null) {
      return promise.setFailure(partlyEncoded);
    }
    var frame = context.alloc().buffer(HEAD_BYTES).writeZero(FRAME_HEADER_BYTES);
    try {
      // A lack of memory is also reported as such an exception.
      heads.encodeHeaders(stream, headers, frame);
    } catch (Http2Exception | RuntimeException e) {
      frame.release();
      partlyEncoded = e;
      return promise.setFailure(e);
    }
    int flags = last ? Http2Flags.END_STREAM : 0;
    int length = frame.readableBytes() - FRAME_HEADER_BYTES;
    messageFrame.accept(length);
    if (length > maxFrameSize()) {
      frame = fragments(context, frame.skipBytes(FRAME_HEADER_BYTES), stream, flags);
    } else {
      int end = frame.writerIndex();
      frameHeader(frame.writerIndex(0), length, Http2FrameTypes.HEADERS,
          flags | Http2Flags.END_HEADERS, stream);
      frame.writerIndex(end);
    }
    return context.write(frame, promise);
  }

  /** Splits a head that is too large for one frame into HEADERS and CONTINUATION frames. */
  private ByteBuf fragments(ChannelHandlerContext context, ByteBuf block, int stream, int flags) {
    try {
      int frames = (block.readableBytes() + maxFrameSize() - 1) / maxFrameSize();
      var out = context.alloc().buffer(block.readableBytes() + frames * FRAME_HEADER_BYTES);
      byte type = Http2FrameTypes.HEADERS;
      int its = flags;
      while (block.isReadable()) {
        int length = Math.min(block.readableBytes(), maxFrameSize());
        boolean end = length == block.readableBytes();
        frameHeader(out, length, type, end ? its | Http2Flags.END_HEADERS : its, stream);
        out.writeBytes(block, length);
        type = Http2FrameTypes.CONTINUATION;
        its = 0;
      }
      return out;
    } finally {
      block.release();
    }
  }

  @Override
  public ChannelFuture writeData(ChannelHandlerContext context, int stream, ByteBuf data,
      int padding, boolean last, ChannelPromise promise) {
    int length = data.readableBytes();
    messageFrame.accept(length);
    if (padding > 0 || length > maxFrameSize()) {
      return super.writeData(context, stream, data, padding, last, promise);
    }
    boolean small = length <= SMALL_DATA_BYTES;
    ByteBuf frame;
    try {
      frame = context.alloc().buffer(FRAME_HEADER_BYTES + (small ? length : 0));
    } catch (OutOfMemoryError e) {
      data.release();
      return promise.setFailure(e);
    }
    frameHeader(frame, length, Http2FrameTypes.DATA, last ? Http2Flags.END_STREAM : 0, stream);
    if (small) {
      frame.writeBytes(data);
      data.release();
      return context.write(frame, promise);
    }
    context.write(frame);
    return context.write(data, promise);
  }

  private static void frameHeader(ByteBuf out, int length, byte type, int flags, int stream) {
    out.writeMedium(length).writeByte(type).writeByte(flags).writeInt(stream);
  }

  @Override
  public ChannelFuture writeRstStream(ChannelHandlerContext context, int stream, long error,
      ChannelPromise promise) {
    return super.writeRstStream(context, stream, error, counted(context, promise));
  }

  @Override
  public ChannelFuture writeSettingsAck(ChannelHandlerContext context, ChannelPromise promise) {
    return super.writeSettingsAck(context, counted(context, promise));
  }

  @Override
  public ChannelFuture writePing(ChannelHandlerContext context, boolean ack, long data,
      ChannelPromise promise) {
    return super.writePing(context, ack, data, counted(context, promise));
  }

  private ChannelPromise counted(ChannelHandlerContext context, ChannelPromise promise) {
    if (controlFrames == maxControlFrames) {
      context.flush();
    }
    controlFrames++;
    if (controlFrames == maxControlFrames + 1) {
      overLimit.run();
    }
    return promise.addListener(_ -> controlFrames--);
  }
}
