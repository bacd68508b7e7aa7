package dev.activator.ext.admit;

import dev.activator.proxy.AbusiveConnectionCounter;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.proxy.AbusiveConnectionCounter.Reason;
import dev.activator.proxy.exchange.HeldRequestBytes;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import io.netty.handler.codec.http2.Http2FrameTypes;

/**
 * A handler that ends a gateway's connection if a request head takes too long or too much memory. A
 * new connection must send its first head, or the preface of HTTP/2, in the same time. The handler
 * removes {@code Upgrade}, so only the first bytes of a connection choose the version of HTTP.
 *
 * <p><b>Errors.</b> Ends the connection.
 */
final class GatewayHeadLimiter extends ChannelInboundHandlerAdapter {
  private static final ByteBuf PREFACE = Http2CodecUtil.connectionPrefaceBuf();

  private final ChannelPipeline pipeline;
  private final Loop loop;
  private final Duration timeout;
  private final AbusiveConnectionCounter endedConnections;
  private final ResettableTimer timer;
  private final HeldRequestBytes.PartialHead partial;
  private final Decoded decoded = new Decoded();
  private final Refused refused = new Refused();
  private final Http2HeadSizeTracker frames = new Http2HeadSizeTracker();
  /** How many bytes of the preface have come; negative in HTTP/1. */
  private int prefaceBytes;
  private boolean awaited = true;
  private boolean withinMessage;
  private boolean messageEnded;
  /** An upper bound of the bytes of the incomplete head. */
  private int bytes;
  private int heads;

  private GatewayHeadLimiter(ChannelPipeline pipeline, Loop loop, HeldRequestBytes.Share held,
      Duration timeout, AbusiveConnectionCounter endedConnections) {
    this.pipeline = pipeline;
    this.loop = loop;
    this.timeout = timeout;
    this.endedConnections = endedConnections;
    this.timer = new ResettableTimer(loop, () -> end(Reason.SLOW_HEAD));
    this.partial = held.partialHead(() -> end(Reason.PARTIAL_HEADS));
  }

  /** @param pipeline has the codec of HTTP/1 */
  static void limit(ChannelPipeline pipeline, Loop loop, HeldRequestBytes.Share held,
      Duration timeout, AbusiveConnectionCounter endedConnections) {
    var limit = new GatewayHeadLimiter(pipeline, loop, held, timeout, endedConnections);
    pipeline.addFirst(limit).addAfter(pipeline.context(HttpServerCodec.class).name(), null,
        limit.decoded).addLast(limit.refused);
    limit.timer.within(timeout);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    var in = (ByteBuf) message;
    int at = in.readerIndex();
    while (at < in.writerIndex() && prefaceBytes >= 0 && prefaceBytes < PREFACE.capacity()) {
      prefaceBytes = in.getByte(at++) == PREFACE.getByte(prefaceBytes) ? prefaceBytes + 1 : -1;
    }
    if (prefaceBytes == PREFACE.capacity()) {
      readFrames(context, in, at);
    } else {
      readMessages(context, in);
    }
  }

  private void readFrames(ChannelHandlerContext context, ByteBuf in, int from) {
    frames.read(in, from);
    if (frames.heads() != heads || !frames.isWithinHead()) {
      heads = frames.heads();
      headEnded();
    }
    bytes = frames.headBytes();
    if (frames.isWithinHead()) {
      headGrew();
    }
    context.fireChannelRead(in);
  }

  /**
   * Passes on the last byte separately. Only if a message ends with that byte, the decoder holds no
   * part of the next head.
   */
  private void readMessages(ChannelHandlerContext context, ByteBuf in) {
    int length = in.readableBytes();
    bytes += length;
    messageEnded = false;
    if (length > 1) {
      context.fireChannelRead(in.readRetainedSlice(length - 1));
      bytes = messageEnded ? length : bytes;
    }
    messageEnded = false;
    context.fireChannelRead(in);
    if (!withinMessage && !messageEnded && length > 0) {
      headGrew();
    }
  }

  private void headGrew() {
    if (!awaited) {
      awaited = true;
      timer.within(timeout);
    }
    partial.grew(HeldRequestBytes.ofHead(bytes, 0));
  }

  private void headEnded() {
    awaited = false;
    bytes = 0;
    timer.cancel();
    partial.ended();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    headEnded();
  }

  @SuppressWarnings("FutureReturnValueIgnored") // The end of the connection removes this handler.
  private void end(Reason why) {
    endedConnections.ended(why, pipeline.channel().remoteAddress(), loop.nanoTime());
    pipeline.close();
  }

  /** Receives the errors for which the codec of HTTP/2 ends the connection. */
  private final class Refused extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      if (Http2CodecUtil.getEmbeddedHttp2Exception(cause) == null) {
        context.fireExceptionCaught(cause);
      } else {
        endedConnections.ended(Reason.OTHER_LIMIT, context.channel().remoteAddress(),
            loop.nanoTime());
      }
    }
  }

  /** Receives the messages from the decoder of HTTP/1. */
  private final class Decoded extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof HttpRequest request) {
        if (request.decoderResult().cause() instanceof PrematureChannelClosureException) {
          ReferenceCountUtil.release(message);
          return;
        }
        withinMessage = true;
        headEnded();
        request.headers().remove(HttpHeaderNames.UPGRADE);
      }
      if (message instanceof LastHttpContent) {
        withinMessage = false;
        messageEnded = true;
        bytes = 0;
      }
      context.fireChannelRead(message);
    }
  }

  /**
   * Finds where request heads begin and end in the bytes of an HTTP/2 connection, and counts their
   * bytes. Does not check whether the frames are valid; the decoder behind it does.
   *
   * <p><b>Source.</b> RFC 9113, sections 4.1 and 6.10.
   */
  static final class Http2HeadSizeTracker {
    private static final int LENGTH_TYPE_AND_FLAGS = 5;
    private static final int END_HEADERS = 4;

    /** The bytes of the current frame's length, type and flags that have come so far. */
    private long frame;
    private int frameHeaderBytes;
    private int payloadLeft;
    private boolean withinHead;
    private int headBytes;
    private int heads;

    void read(ByteBuf in, int from) {
      int at = from;
      while (at < in.writerIndex()) {
        if (frameHeaderBytes < Http2CodecUtil.FRAME_HEADER_LENGTH) {
          frameHeader(in.getUnsignedByte(at++));
        } else {
          int part = Math.min(payloadLeft, in.writerIndex() - at);
          at += part;
          payloadLeft -= part;
          headBytes += withinHead ? part : 0;
        }
        if (frameHeaderBytes == Http2CodecUtil.FRAME_HEADER_LENGTH && payloadLeft == 0) {
          endFrame();
        }
      }
    }

    private void frameHeader(int next) {
      frameHeaderBytes++;
      if (frameHeaderBytes <= LENGTH_TYPE_AND_FLAGS) {
        frame = frame << Byte.SIZE | next;
      }
      if (frameHeaderBytes == LENGTH_TYPE_AND_FLAGS) {
        payloadLeft = (int) (frame >>> 2 * Byte.SIZE);
        if (type() == Http2FrameTypes.HEADERS) {
          withinHead = true;
          headBytes = 0;
          heads++;
        }
      }
    }

    private int type() {
      return (int) (frame >>> Byte.SIZE) & 0xff;
    }

    private void endFrame() {
      boolean endsHead = (frame & END_HEADERS) != 0
          && (type() == Http2FrameTypes.HEADERS || type() == Http2FrameTypes.CONTINUATION);
      withinHead &= !endsHead;
      frameHeaderBytes = 0;
      frame = 0;
    }

    boolean isWithinHead() {
      return withinHead;
    }

    /** The bytes of the current head, or else of the last one. */
    int headBytes() {
      return headBytes;
    }

    /** The number of heads that have begun. */
    int heads() {
      return heads;
    }
  }
}
