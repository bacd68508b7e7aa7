package dev.activator.proxy;

import dev.activator.upstream.KnownNames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests, and refuses what Netty's decoder would put right silently: lines that are folded,
 * a carriage return within a line, a second length in HTTP/1.0.
 *
 * <p>
 * <b>Units.</b> A head may have one MiB, its line included, and a little more, as in Go.
 *
 * <p>
 * <b>Errors.</b> A malformed request comes out as one whose decoder result says why; nothing follows
 * it.
 *
 * <p>
 * <b>Source.</b> RFC 9112, sections 2.2, 5.2 and 6.3.
 */
final class RequestDecoder extends HttpRequestDecoder {
  private static final int MAX_HEAD_BYTES = (1 << 20) + (4 << 10);
  private static final int MAX_PIECE_BYTES = 64 << 10;

  private enum Reading {
    /** What comes before a request line: at most empty lines. */
    NOTHING, LINE, HEADERS, BODY, REFUSED
  }

  private Reading reading = Reading.NOTHING;
  /** Bytes of this head that were looked at, counted from what is not consumed yet. */
  private int seen;
  /** Bytes of this head that were consumed. */
  private int consumed;
  private boolean lineStart = true;
  private int lengths;

  RequestDecoder() {
    super(new HttpDecoderConfig().setMaxInitialLineLength(MAX_HEAD_BYTES)
        .setMaxHeaderSize(MAX_HEAD_BYTES).setMaxChunkSize(MAX_PIECE_BYTES));
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
      throws Exception {
    if (reading == Reading.REFUSED) {
      in.skipBytes(in.readableBytes());
      return;
    }
    if (reading != Reading.BODY) {
      var wrong = look(in);
      if (wrong != null) {
        refuse(in, out, wrong);
        return;
      }
    }
    int before = in.readerIndex();
    super.decode(context, in, out);
    seen -= in.readerIndex() - before;
    consumed += in.readerIndex() - before;
    after(in, out);
  }

  private void after(ByteBuf in, List<Object> out) {
    if (lengths > 1) {
      out.clear();
      refuse(in, out, new IllegalArgumentException("more than one Content-Length"));
    } else if (!out.isEmpty() && ((HttpObject) out.getLast()).decoderResult().isFailure()) {
      reading = Reading.REFUSED;
    } else if (!out.isEmpty() && out.getLast() instanceof LastHttpContent) {
      startOver();
    }
  }

  private void startOver() {
    reading = Reading.NOTHING;
    seen = 0;
    consumed = 0;
    lengths = 0;
    lineStart = true;
  }

  /** Looks at the bytes of the head that came since last time; what is wrong, or null. */
  private @Nullable Exception look(ByteBuf in) {
    int end = in.writerIndex();
    int at = in.readerIndex() + seen;
    while (at < end && reading != Reading.BODY) {
      if (lineStart && reading == Reading.HEADERS && isBlank(in.getByte(at))) {
        return new IllegalArgumentException("folded header line");
      }
      int carriageReturn = in.indexOf(at, end, HttpConstants.CR);
      if (carriageReturn < 0 || carriageReturn + 1 == end) {
        lineStart &= carriageReturn == at;
        at = carriageReturn < 0 ? end : carriageReturn;
        break;
      }
      if (in.getByte(carriageReturn + 1) != HttpConstants.LF) {
        return new IllegalArgumentException("carriage return within a line");
      }
      reading = next(lineStart && carriageReturn == at);
      lineStart = true;
      at = carriageReturn + 2;
    }
    seen = at - in.readerIndex();
    return consumed + seen > MAX_HEAD_BYTES
        ? new TooLongHttpHeaderException("more than " + MAX_HEAD_BYTES + " bytes")
        : null;
  }

  private Reading next(boolean emptyLine) {
    return switch (reading) {
      case NOTHING, LINE -> emptyLine ? Reading.NOTHING : Reading.HEADERS;
      default -> emptyLine ? Reading.BODY : Reading.HEADERS;
    };
  }

  private static boolean isBlank(byte b) {
    return b == HttpConstants.SP || b == HttpConstants.HT;
  }

  @Override
  protected AsciiString splitHeaderName(byte[] line, int start, int length) {
    var known = KnownNames.of(line, start, length);
    var name = known == null ? super.splitHeaderName(line, start, length) : known;
    if (name.length() == HttpHeaderNames.CONTENT_LENGTH.length()
        && HttpHeaderNames.CONTENT_LENGTH.contentEqualsIgnoreCase(name)) {
      lengths++;
    }
    return name;
  }

  private void refuse(ByteBuf in, List<Object> out, Exception why) {
    reading = Reading.REFUSED;
    in.skipBytes(in.readableBytes());
    var refused = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/",
        Unpooled.EMPTY_BUFFER);
    refused.setDecoderResult(DecoderResult.failure(why));
    out.add(refused);
  }
}
