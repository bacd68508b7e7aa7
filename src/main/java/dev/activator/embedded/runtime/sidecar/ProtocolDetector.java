package dev.activator.embedded.runtime.sidecar;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import java.util.List;

/**
 * Tells HTTP/2 from HTTP/1.1 by the first bytes of a connection, and goes.
 *
 * <p>
 * <b>Source.</b> RFC 9113, 3.4: a client that knows the server speaks HTTP/2 begins with a preface.
 */
final class ProtocolDetector extends ByteToMessageDecoder {
  private static final ByteBuf PREFACE = Unpooled
      .unreleasableBuffer(Http2CodecUtil.connectionPrefaceBuf()).asReadOnly();

  private final Sidecar sidecar;

  ProtocolDetector(Sidecar sidecar) {
    this.sidecar = sidecar;
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
    int compared = Math.min(in.readableBytes(), PREFACE.readableBytes());
    boolean same = ByteBufUtil.equals(in, in.readerIndex(), PREFACE, PREFACE.readerIndex(),
        compared);
    if (!same) {
      Pipelines.addHttp1(context.channel(), sidecar);
      context.pipeline().remove(this);
    } else if (compared == PREFACE.readableBytes()) {
      Pipelines.addHttp2(context.channel(), sidecar);
      context.pipeline().remove(this);
    }
  }
}
