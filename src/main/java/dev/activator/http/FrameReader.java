package dev.activator.http;

import dev.activator.http.Http2Setup.FrameGuard;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameReader;
import io.netty.handler.codec.http2.Http2FrameSizePolicy;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Settings;
import org.jspecify.annotations.Nullable;

/**
 * Reads HTTP/2 frames and passes them to Netty's decoder, which knows the states of streams. Unlike
 * Netty's reader it allocates no objects per frame. It skips frames of unknown types.
 *
 * <p><b>Errors.</b> After a connection error it reads no more frames.
 *
 * <p><b>Source.</b> RFC 9113, sections 4, 6 and 10.5.1; CVE-2024-27316 (CONTINUATION).
 */
final class FrameReader
    implements Http2FrameReader, Http2FrameReader.Configuration, Http2FrameSizePolicy {
  private static final int FRAME_HEADER_BYTES = 9;
  private static final int SETTING_BYTES = 6;
  private static final int PRIORITY_BYTES = 5;
  private static final int NO_STREAM = 0;
  private static final int SMALL_FRAGMENT_BYTES = 8 << 10;
  private static final int MAX_SMALL_FRAGMENTS = 16;

  private final IncomingHttp2Head.Decoder heads;
  private final FrameGuard limits;
  private @Nullable ReadTurn turn;
  private int maxFrameSize = Http2CodecUtil.DEFAULT_MAX_FRAME_SIZE;
  private boolean failed;

  private boolean withinFrame;
  private int length;
  private int type;
  private int flags;
  private int stream;

  /** The stream of the incomplete head. */
  private int headStream = NO_STREAM;
  private boolean headEndsStream;
  private int headPadding;
  private int smallFragments;
  private @Nullable ByteBuf block;

  FrameReader(IncomingHttp2Head.Decoder heads, FrameGuard limits) {
    this.heads = heads;
    this.limits = limits;
  }

  void limit(ReadTurn by) {
    turn = by;
  }

  @Override
  public void readFrame(ChannelHandlerContext context, ByteBuf in, Http2FrameListener listener)
      throws Http2Exception {
    if (failed) {
      in.skipBytes(in.readableBytes());
      return;
    }
    try {
      while (frameHeader(context, in) && in.readableBytes() >= length) {
        withinFrame = false;
        int end = in.readerIndex() + length;
        try {
          payload(context, in, end, listener);
        } finally {
          in.readerIndex(end);
        }
      }
    } catch (Throwable e) {
      failed = !(e instanceof Http2Exception error && Http2Exception.isStreamError(error));
      throw e;
    } finally {
      limits.readEnds(failed ? 0 : partialHeadBytes(in), heads.tableBytes());
    }
  }

  private int partialHeadBytes(ByteBuf in) {
    int before = block == null ? 0 : FRAME_HEADER_BYTES + block.readableBytes();
    boolean partial = withinFrame && in.readableBytes() < length
        && (type == Http2FrameTypes.HEADERS || type == Http2FrameTypes.CONTINUATION);
    return partial ? before + FRAME_HEADER_BYTES + in.readableBytes() : before;
  }

  private boolean frameHeader(ChannelHandlerContext context, ByteBuf in) throws Http2Exception {
    if (withinFrame) {
      return true;
    }
    if (in.readableBytes() < FRAME_HEADER_BYTES) {
      return false;
    }
    int start = in.readerIndex();
    length = in.readUnsignedMedium();
    type = in.readByte();
    flags = in.readUnsignedByte();
    stream = Http2CodecUtil.readUnsignedInt(in);
    if (length > maxFrameSize) {
      throw wrongSize();
    }
    withinFrame = mayBegin(context) && limits.mayBegin(type, flags, length);
    if (!withinFrame) {
      in.readerIndex(start);
    }
    return withinFrame;
  }

  private boolean mayBegin(ChannelHandlerContext context) {
    if (turn == null) {
      return true;
    }
    boolean may = type == Http2FrameTypes.HEADERS ? turn.mayBeginHead() : turn.mayBegin();
    if (may) {
      turn.count(1);
    } else {
      context.channel().config().setAutoRead(false);
    }
    return may;
  }

  private void payload(ChannelHandlerContext context, ByteBuf in, int end,
      Http2FrameListener listener) throws Http2Exception {
    if (type == Http2FrameTypes.CONTINUATION) {
      continuation(context, in, end, listener);
      return;
    }
    if (headStream != NO_STREAM) {
      throw protocolError("a frame other than CONTINUATION within a head");
    }
    switch (type) {
      case Http2FrameTypes.DATA -> data(context, in, end, listener);
      case Http2FrameTypes.HEADERS -> headers(context, in, end, listener);
      case Http2FrameTypes.PRIORITY -> priority(context, in, listener);
      case Http2FrameTypes.RST_STREAM -> {
        require(stream != NO_STREAM);
        requireLength(Integer.BYTES);
        listener.onRstStreamRead(context, stream, in.readUnsignedInt());
      }
      case Http2FrameTypes.SETTINGS -> settings(context, in, end, listener);
      case Http2FrameTypes.PUSH_PROMISE -> throw protocolError("PUSH_PROMISE is not allowed");
      case Http2FrameTypes.PING -> {
        require(stream == NO_STREAM);
        requireLength(Long.BYTES);
        if (has(Http2Flags.ACK)) {
          listener.onPingAckRead(context, in.readLong());
        } else {
          listener.onPingRead(context, in.readLong());
        }
      }
      case Http2FrameTypes.GO_AWAY -> {
        require(stream == NO_STREAM);
        if (length < Long.BYTES) {
          throw wrongSize();
        }
        listener.onGoAwayRead(context, Http2CodecUtil.readUnsignedInt(in), in.readUnsignedInt(),
            in.readSlice(end - in.readerIndex()));
      }
      case Http2FrameTypes.WINDOW_UPDATE -> windowUpdate(context, in, listener);
      default -> {
      }
    }
  }

  private void data(ChannelHandlerContext context, ByteBuf in, int end,
      Http2FrameListener listener) throws Http2Exception {
    require(stream != NO_STREAM);
    if (has(Http2Flags.PADDED) && length == 0) {
      throw Http2Exception.streamError(stream, Http2Error.FRAME_SIZE_ERROR, "no padding length");
    }
    int padding = padding(in);
    listener.onDataRead(context, stream, in.readSlice(beforePadding(in, end, padding)), padding,
        has(Http2Flags.END_STREAM));
  }

  private void headers(ChannelHandlerContext context, ByteBuf in, int end,
      Http2FrameListener listener) throws Http2Exception {
    require(stream != NO_STREAM);
    if (length < (has(Http2Flags.PADDED) ? 1 : 0)
        + (has(Http2Flags.PRIORITY) ? PRIORITY_BYTES : 0)) {
      throw wrongSize();
    }
    int padding = padding(in);
    if (has(Http2Flags.PRIORITY)) {
      // The priority is otherwise ignored, because priorities are deprecated.
      require(Http2CodecUtil.readUnsignedInt(in) != stream);
      in.skipBytes(1);
    }
    boolean last = has(Http2Flags.END_STREAM);
    int bytes = beforePadding(in, end, padding);
    if (has(Http2Flags.END_HEADERS)) {
      requireHeadSize(bytes);
      int limit = in.writerIndex();
      // The decoder reads until the end of its buffer.
      in.writerIndex(in.readerIndex() + bytes);
      try {
        head(context, in, padding, last, listener);
      } finally {
        in.writerIndex(limit);
      }
    } else {
      headStream = stream;
      headEndsStream = last;
      headPadding = padding;
      smallFragments = 0;
      block = context.alloc().buffer(bytes);
      append(in, bytes);
    }
  }

  private void continuation(ChannelHandlerContext context, ByteBuf in, int end,
      Http2FrameListener listener) throws Http2Exception {
    require(headStream != NO_STREAM && stream == headStream);
    if (smallFragments >= MAX_SMALL_FRAGMENTS) {
      throw Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM,
          "too many small parts of a head");
    }
    append(in, end - in.readerIndex());
    var whole = block;
    if (has(Http2Flags.END_HEADERS) && whole != null) {
      block = null;
      headStream = NO_STREAM;
      try {
        head(context, whole, headPadding, headEndsStream, listener);
      } finally {
        whole.release();
      }
    }
  }

  private void head(ChannelHandlerContext context, ByteBuf whole, int padding, boolean last,
      Http2FrameListener listener) throws Http2Exception {
    try {
      listener.onHeadersRead(context, stream, heads.decodeHeaders(stream, whole), padding, last);
    } finally {
      heads.forget();
    }
  }

  private void append(ByteBuf in, int bytes) throws Http2Exception {
    if (block != null) {
      requireHeadSize(block.readableBytes() + (long) bytes);
      block.writeBytes(in, bytes);
      smallFragments += bytes < SMALL_FRAGMENT_BYTES ? 1 : 0;
    }
  }

  private void requireHeadSize(long bytes) throws Http2Exception {
    if (bytes > heads.configuration().maxHeaderListSizeGoAway()) {
      throw protocolError("a head that is too large");
    }
  }

  private void priority(ChannelHandlerContext context, ByteBuf in, Http2FrameListener listener)
      throws Http2Exception {
    require(stream != NO_STREAM);
    if (length != PRIORITY_BYTES) {
      throw Http2Exception.streamError(stream, Http2Error.FRAME_SIZE_ERROR, "wrong PRIORITY size");
    }
    int dependency = in.readInt();
    int parent = dependency & Integer.MAX_VALUE;
    if (parent == stream) {
      throw Http2Exception.streamError(stream, Http2Error.PROTOCOL_ERROR, "depends on itself");
    }
    listener.onPriorityRead(context, stream, parent, (short) (in.readUnsignedByte() + 1),
        dependency < 0);
  }

  private void settings(ChannelHandlerContext context, ByteBuf in, int end,
      Http2FrameListener listener) throws Http2Exception {
    require(stream == NO_STREAM);
    if (length % SETTING_BYTES != 0 || (has(Http2Flags.ACK) && length > 0)) {
      throw wrongSize();
    }
    if (has(Http2Flags.ACK)) {
      listener.onSettingsAckRead(context);
      return;
    }
    var settings = new Http2Settings();
    while (in.readerIndex() < end) {
      char key = (char) in.readUnsignedShort();
      long value = in.readUnsignedInt();
      try {
        settings.put(key, Long.valueOf(value));
      } catch (IllegalArgumentException e) {
        throw Http2Exception.connectionError(
            key == Http2CodecUtil.SETTINGS_INITIAL_WINDOW_SIZE
                ? Http2Error.FLOW_CONTROL_ERROR
                : Http2Error.PROTOCOL_ERROR,
            e, "a malformed setting");
      }
    }
    try {
      listener.onSettingsRead(context, settings);
    } catch (Http2Exception.StreamException e) {
      // RFC 9113, section 6.9.2: the windows of other streams have not been changed.
      throw Http2Exception.connectionError(e.error(), e, "a window exceeds 2^31-1");
    }
  }

  private void windowUpdate(ChannelHandlerContext context, ByteBuf in,
      Http2FrameListener listener) throws Http2Exception {
    requireLength(Integer.BYTES);
    int more = Http2CodecUtil.readUnsignedInt(in);
    if (more == 0 && stream != NO_STREAM) {
      throw Http2Exception.streamError(stream, Http2Error.PROTOCOL_ERROR, "an increment of zero");
    }
    require(more > 0);
    listener.onWindowUpdateRead(context, stream, more);
  }

  private boolean has(int flag) {
    return (flags & flag) != 0;
  }

  /** The number of bytes of padding, including the byte with its length. */
  private int padding(ByteBuf in) {
    return has(Http2Flags.PADDED) ? in.readUnsignedByte() + 1 : 0;
  }

  private static int beforePadding(ByteBuf in, int end, int padding) throws Http2Exception {
    int bytes = end - in.readerIndex() - Math.max(0, padding - 1);
    if (bytes < 0) {
      throw protocolError("more padding than payload");
    }
    return bytes;
  }

  private void require(boolean condition) throws Http2Exception {
    if (!condition) {
      throw protocolError("a malformed frame of type " + type);
    }
  }

  private void requireLength(int bytes) throws Http2Exception {
    if (length != bytes) {
      throw wrongSize();
    }
  }

  private Http2Exception wrongSize() {
    return Http2Exception.connectionError(Http2Error.FRAME_SIZE_ERROR,
        "%d bytes in a frame of type %d", length, type);
  }

  private static Http2Exception protocolError(String what) {
    return Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, what);
  }

  @Override
  public Configuration configuration() {
    return this;
  }

  @Override
  public Http2HeadersDecoder.Configuration headersConfiguration() {
    return heads.configuration();
  }

  @Override
  public Http2FrameSizePolicy frameSizePolicy() {
    return this;
  }

  @Override
  public void maxFrameSize(int bytes) {
    maxFrameSize = bytes;
  }

  @Override
  public int maxFrameSize() {
    return maxFrameSize;
  }

  @Override
  public void close() {
    if (block != null) {
      block.release();
      block = null;
    }
  }
}
