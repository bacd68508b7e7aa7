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
import org.jspecify.annotations.Nullable;

/**
 * Writes a head, and a small DATA frame, as one buffer with one promise, and limits the control
 * frames that wait to be read by the other end.
 */
// Promises report failures.
@SuppressWarnings("FutureReturnValueIgnored")
final class FrameWriter extends DefaultHttp2FrameWriter {
  private static final int FRAME_HEADER_BYTES = 9;
  /** Usual heads fit. */
  private static final int HEAD_BYTES = 256;
  /** Copying these costs less than a second buffer. */
  private static final int SMALL_DATA_BYTES = 1 << 10;

  private final Http2HeadersEncoder heads;
  private final int maxControlFrames;
  private int controlFrames;
  /** Why a head was encoded in part only, so that the other end lacks fields that later heads would refer to. */
  private @Nullable Exception partlyEncoded;
  private Runnable overLimit = () -> {
  };

  FrameWriter(int maxControlFrames) {
    // The limit of a head's size is advisory, and the other end enforces it.
    this(new DefaultHttp2HeadersEncoder(Http2HeadersEncoder.NEVER_SENSITIVE, true),
        maxControlFrames);
  }

  private FrameWriter(Http2HeadersEncoder heads, int maxControlFrames) {
    super(heads);
    this.heads = heads;
    this.maxControlFrames = maxControlFrames;
  }

  /** @param action runs when the other end leaves too many answers to PING, SETTINGS and errors unread */
  void onOverLimit(Runnable action) {
    overLimit = action;
  }

  @Override
  public ChannelFuture writeHeaders(ChannelHandlerContext context, int stream, Http2Headers headers,
      int padding, boolean last, ChannelPromise promise) {
    if (partlyEncoded != null) {
      return promise.setFailure(partlyEncoded);
    }
    var frame = context.alloc().buffer(HEAD_BYTES).writeZero(FRAME_HEADER_BYTES);
    try {
      // An error of memory, too, comes as an exception.
      heads.encodeHeaders(stream, headers, frame);
    } catch (Http2Exception | RuntimeException e) {
      frame.release();
      partlyEncoded = e;
      return promise.setFailure(e);
    }
    int flags = last ? Http2Flags.END_STREAM : 0;
    int length = frame.readableBytes() - FRAME_HEADER_BYTES;
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

  /** HEADERS and CONTINUATIONs. */
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
