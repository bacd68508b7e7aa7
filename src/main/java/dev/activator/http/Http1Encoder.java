package dev.activator.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Encodes HTTP/1 messages. A head and a small body behind it become one buffer, which is cheaper to
 * write than two. Netty's encoder writes each part separately.
 *
 * <p><b>Errors.</b> An {@link IllegalStateException} for a part out of order.
 *
 * <p><b>Source.</b> RFC 9112, sections 3, 4 and 7.1.
 */
public abstract class Http1Encoder extends ChannelOutboundHandlerAdapter {
  private enum Body {
    /** No message has begun. */
    NONE,
    EMPTY,
    PLAIN,
    CHUNKED
  }

  private static final int LINE_END = '\r' << 8 | '\n';
  private static final int COLON = ':' << 8 | ' ';
  private static final byte[] LAST_CHUNK = {'0', '\r', '\n'};
  private static final ByteBuf CHUNK_END = Unpooled
      .unreleasableBuffer(Unpooled.directBuffer(2).writeShort(LINE_END)).asReadOnly();
  /** The maximum size of a chunk's length and two line ends. */
  private static final int CHUNK_BYTES = 12;
  /** The space that is reserved for a small body behind a head. */
  private static final int SMALL_BODY_BYTES = 256;
  private static final int MIN_BUFFER_BYTES = 512;

  private Body body = Body.NONE;
  /** A head that is not written yet, perhaps with a part of its body. */
  private @Nullable ByteBuf pending;
  private @Nullable ChannelPromise pendingPromise;
  private int lastHeadBytes;

  protected abstract void startLine(ByteBuf out, HttpMessage head);

  /** Whether the message has no body. Removes fields that say otherwise. */
  protected abstract boolean isBodyless(HttpMessage head);

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    try {
      if (message instanceof HttpMessage head) {
        begin(context, head, promise);
      }
      if (message instanceof HttpContent part) {
        content(context, part);
      } else if (!(message instanceof HttpMessage)) {
        writePending(context);
        context.write(ReferenceCountUtil.retain(message), promise);
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void begin(ChannelHandlerContext context, HttpMessage head, ChannelPromise promise) {
    if (body != Body.NONE) {
      throw new IllegalStateException("a head within a body");
    }
    writePending(context);
    var out = context.alloc()
        .directBuffer(Math.max(MIN_BUFFER_BYTES, lastHeadBytes + SMALL_BODY_BYTES));
    try {
      boolean empty = isBodyless(head);
      startLine(out, head);
      fields(out, head.headers());
      lastHeadBytes = out.readableBytes();
      body = empty
          ? Body.EMPTY
          : HttpUtil.isTransferEncodingChunked(head) ? Body.CHUNKED : Body.PLAIN;
      pending = out;
      pendingPromise = promise;
    } finally {
      if (pending == null) {
        out.release();
      }
    }
  }

  private static void fields(ByteBuf out, HttpHeaders headers) {
    var all = HeaderFieldList.of(headers);
    for (int i = 0; i < all.size(); i++) {
      text(out, all.name(i));
      out.writeShort(COLON);
      text(out, all.value(i));
      out.writeShort(LINE_END);
    }
    out.writeShort(LINE_END);
  }

  /** Writes the text with the same bytes that were read. */
  protected static void text(ByteBuf out, CharSequence text) {
    if (text instanceof AsciiString ascii) {
      ByteBufUtil.copy(ascii, out);
    } else {
      out.writeCharSequence(text, StandardCharsets.ISO_8859_1);
    }
  }

  private void content(ChannelHandlerContext context, HttpContent part) {
    switch (body) {
      case NONE -> throw new IllegalStateException("a body without a head");
      case EMPTY -> {
      }
      case PLAIN -> bytes(context, part.content());
      case CHUNKED -> chunk(context, part);
    }
    if (part instanceof LastHttpContent) {
      body = Body.NONE;
    }
  }

  private void bytes(ChannelHandlerContext context, ByteBuf bytes) {
    int length = bytes.readableBytes();
    if (pending != null && length <= pending.maxFastWritableBytes()) {
      pending.writeBytes(bytes, bytes.readerIndex(), length);
    } else if (length > 0) {
      writePending(context);
      context.write(bytes.retain(), context.voidPromise());
    }
  }

  private void chunk(ChannelHandlerContext context, HttpContent part) {
    int length = part.content().readableBytes();
    if (length > 0) {
      var out = room(context);
      text(out, Integer.toHexString(length));
      out.writeShort(LINE_END);
      bytes(context, part.content());
      if (pending == null) {
        context.write(CHUNK_END.duplicate(), context.voidPromise());
      } else {
        pending.writeShort(LINE_END);
      }
    }
    if (part instanceof LastHttpContent last) {
      var out = room(context);
      out.writeBytes(LAST_CHUNK);
      fields(out, last.trailingHeaders());
    }
  }

  /** The pending buffer if it has space for a chunk's length, or else a new one. */
  private ByteBuf room(ChannelHandlerContext context) {
    if (pending != null && pending.maxFastWritableBytes() < CHUNK_BYTES) {
      writePending(context);
    }
    if (pending == null) {
      pending = context.alloc().directBuffer(SMALL_BODY_BYTES);
      pendingPromise = context.voidPromise();
    }
    return pending;
  }

  @SuppressWarnings("FutureReturnValueIgnored") // The promise reports it.
  private void writePending(ChannelHandlerContext context) {
    var out = pending;
    var promise = pendingPromise;
    pending = null;
    pendingPromise = null;
    if (out != null && promise != null) {
      context.write(out, promise);
    }
  }

  @Override
  public void flush(ChannelHandlerContext context) {
    writePending(context);
    context.flush();
  }

  @Override
  @SuppressWarnings("FutureReturnValueIgnored") // The caller has the promise.
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    writePending(context);
    context.close(promise);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (pending != null && !context.channel().isActive()) {
      pending.release();
      pending = null;
      if (pendingPromise != null && !pendingPromise.isVoid()) {
        pendingPromise.tryFailure(new ClosedChannelException());
      }
    }
    writePending(context);
  }

  /** Encodes requests to a pod in HTTP/1.1. */
  public static final class RequestEncoder extends Http1Encoder {
    private static final byte[] LINE_END = " HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII);

    @Override
    protected void startLine(ByteBuf out, HttpMessage head) {
      var request = (HttpRequest) head;
      ByteBufUtil.copy(request.method().asciiName(), out);
      out.writeByte(HttpConstants.SP);
      text(out, request.uri());
      out.writeBytes(LINE_END);
    }

    /** Whether the end of a chunked body is not written yet. */
    public boolean isWithinChunks() {
      return super.body == Body.CHUNKED;
    }

    @Override
    protected boolean isBodyless(HttpMessage head) {
      return false;
    }
  }

  /** Encodes responses to a caller. */
  public static final class ResponseEncoder extends Http1Encoder {
    private static final AsciiString HTTP_1_1 = AsciiString.cached("HTTP/1.1 ");
    private static final AsciiString HTTP_1_0 = AsciiString.cached("HTTP/1.0 ");
    private static final int SWITCHING_PROTOCOLS = 101;
    private static final int NO_CONTENT = 204;
    private static final int RESET_CONTENT = 205;
    private static final int NOT_MODIFIED = 304;

    private HttpMethod answered = HttpMethod.GET;

    /**
     * Sets the method of the request that the next response answers, because the answer to a HEAD
     * has no body.
     */
    public void answers(HttpMethod method) {
      answered = method;
    }

    @Override
    protected void startLine(ByteBuf out, HttpMessage head) {
      var status = ((HttpResponse) head).status();
      ByteBufUtil.copy(head.protocolVersion().equals(HttpVersion.HTTP_1_0) ? HTTP_1_0 : HTTP_1_1,
          out);
      ByteBufUtil.copy(status.codeAsText(), out);
      out.writeByte(' ');
      text(out, status.reasonPhrase());
      out.writeByte('\r').writeByte('\n');
    }

    /** <b>Source.</b> RFC 9110, sections 8.6 and 15.3.6; RFC 9112, section 6.1. */
    @Override
    protected boolean isBodyless(HttpMessage head) {
      var status = ((HttpResponse) head).status();
      boolean interim = status.codeClass() == HttpStatusClass.INFORMATIONAL;
      if (interim && status.code() != SWITCHING_PROTOCOLS || status.code() == NO_CONTENT) {
        head.headers().remove(HttpHeaderNames.CONTENT_LENGTH)
            .remove(HttpHeaderNames.TRANSFER_ENCODING);
      } else if (status.code() == RESET_CONTENT) {
        head.headers().remove(HttpHeaderNames.TRANSFER_ENCODING)
            .setInt(HttpHeaderNames.CONTENT_LENGTH, 0);
      }
      return interim || status.code() == NO_CONTENT || status.code() == RESET_CONTENT
          || status.code() == NOT_MODIFIED || answered.equals(HttpMethod.HEAD);
    }
  }
}
