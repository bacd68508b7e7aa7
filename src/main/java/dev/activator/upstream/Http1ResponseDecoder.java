package dev.activator.upstream;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.HeaderNameCache;
import dev.activator.http.HopByHopFields;
import dev.activator.http.IncomingHttp2Head;
import dev.activator.http.ReadTurn;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decodes a pod's responses in HTTP/1.1. It must know the request's method, because a response to
 * HEAD has no body. A head may have 10 MiB, as in Go. Where programs are careless and the meaning
 * is still certain, it is as lenient as Go and HAProxy: lines of a head may end in LF alone, and
 * equal lengths count as one.
 */
final class Http1ResponseDecoder extends HttpResponseDecoder {
  private static final int MAX_HEAD_BYTES = 10 << 20;
  private static final int MAX_PIECE_BYTES = 64 << 10;
  /**
   * The most that one read brings. A line of twice this length comes in several reads, so it is seen
   * while it is incomplete.
   */
  private static final int MAX_PARTIAL_LINE_BYTES = 64 << 10;

  // Cached, because nearly all responses begin with these.
  private static final AsciiString HTTP_1_1 = AsciiString.cached("HTTP/1.1");
  private static final AsciiString CODE = AsciiString.cached("200");
  private static final AsciiString REASON = AsciiString.cached("OK");

  private final Trailers trailers;
  private int fields;
  private @Nullable HttpMethod method;
  private HttpVersion version = HttpVersion.HTTP_1_1;
  private ByteBuf reading = Unpooled.EMPTY_BUFFER;
  private @Nullable ReadTurn turn;
  /** Whether a head is awaited of which no byte has come. */
  private boolean begins;
  private boolean inHttp2;
  private boolean hadLongLine;

  Http1ResponseDecoder() {
    this(new Trailers());
  }

  private Http1ResponseDecoder(Trailers trailers) {
    super(new HttpDecoderConfig().setMaxInitialLineLength(MAX_HEAD_BYTES)
        .setMaxHeaderSize(MAX_HEAD_BYTES).setMaxChunkSize(MAX_PIECE_BYTES)
        .setStrictLineParsing(false).setAllowDuplicateContentLengths(true)
        .setHeadersFactory(HeaderFieldList.CHECKED).setTrailersFactory(trailers));
    this.trailers = trailers;
  }

  void requested(HttpMethod by) {
    method = by;
    begins = true;
  }

  /** Parts beyond the turn wait, undecoded. */
  void limit(ReadTurn by) {
    turn = by;
  }

  /** Decodes what waits, because nothing follows it. */
  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    if (turn != null) {
      turn.lift();
    }
    super.channelInactive(context);
  }

  /** Whether the response began with the SETTINGS of HTTP/2. */
  boolean isHttp2() {
    return inHttp2;
  }

  /**
   * Call when the response is complete: bytes that come before the next request then end the
   * connection. Returns whether the connection can be kept. It cannot if such bytes have already
   * come, or if it would hold much memory while idle: Netty's line buffer stays as large as the
   * longest line.
   */
  boolean answered() {
    method = null;
    return actualReadableBytes() == 0 && !hadLongLine;
  }

  /**
   * Closes the connection if bytes come without a request, because they would be taken for the
   * start of the next response.
   */
  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
      throws Exception {
    reading = in;
    if (method == null) {
      in.skipBytes(in.readableBytes());
      context.close();
    } else if (turn != null && !turn.mayBegin()) {
      context.channel().config().setAutoRead(false);
    } else {
      if (begins) {
        begins = false;
        // A frame header has three bytes of length, the type, the flags, and four bytes of the
        // stream's id.
        inHttp2 = in.readableBytes() >= Http2CodecUtil.FRAME_HEADER_LENGTH
            && in.getByte(in.readerIndex() + 3) == Http2FrameTypes.SETTINGS
            && in.getInt(in.readerIndex() + 5) == 0;
        byte first = in.getByte(in.readerIndex());
        if (first >= 0 && first < ' ' && first != HttpConstants.CR && first != HttpConstants.LF) {
          // Netty would skip it, and wait for a line.
          var message = createInvalidMessage();
          message.setDecoderResult(DecoderResult.failure(
              new IllegalArgumentException("a control character before the status line")));
          in.skipBytes(in.readableBytes());
          out.add(message);
          return;
        }
      }
      int before = in.readableBytes();
      super.decode(context, in, out);
      if (turn != null) {
        turn.count(out.size());
      }
      // The decoder leaves only an incomplete line unread: of the head, of a chunk, or of the
      // trailers.
      hadLongLine |= before > MAX_PARTIAL_LINE_BYTES && in.readableBytes() == before;
    }
  }

  @Override
  protected boolean isContentAlwaysEmpty(HttpMessage message) {
    var response = (HttpResponse) message;
    response.setProtocolVersion(version);
    var headers = response.headers();
    if (HopByHopFields.isTooLong(HeaderFieldList.in(response))) {
      throw new IllegalArgumentException("too many options of the connection");
    }
    if (HttpVersion.HTTP_1_0.equals(version)) {
      ignoreCoding(headers);
    }
    trailers.possible = isChunked(headers);
    if (trailers.possible) {
      ignoreLength(headers);
    }
    begins = response.status().codeClass() == HttpStatusClass.INFORMATIONAL
        && !response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
    if (response.status().equals(HttpResponseStatus.RESET_CONTENT) && !trailers.possible
        && !headers.contains(HttpHeaderNames.CONTENT_LENGTH)) {
      // It has no content, so nothing is waited for. What follows all the same is not parsed.
      closeAfter(headers);
      return true;
    }
    return HttpMethod.HEAD.equals(method) || super.isContentAlwaysEmpty(response);
  }

  /**
   * Ignores the transfer coding of a response in HTTP/1.0. Its framing is ambiguous, so the
   * connection is closed after it.
   *
   * <p><b>Source.</b> RFC 9112, section 6.1; {@code parseTransferEncoding} of Go's {@code
   * net/http}.
   */
  private static void ignoreCoding(HttpHeaders headers) {
    if (headers.contains(HttpHeaderNames.TRANSFER_ENCODING)) {
      headers.remove(HttpHeaderNames.TRANSFER_ENCODING);
      closeAfter(headers);
    }
  }

  /**
   * Ignores a length beside chunks, also in a response to HEAD. Another proxy could have read it
   * otherwise, so the connection is closed after the response.
   *
   * <p><b>Source.</b> RFC 9112, section 6.3.
   */
  private static void ignoreLength(HttpHeaders headers) {
    if (headers.contains(HttpHeaderNames.CONTENT_LENGTH)) {
      headers.remove(HttpHeaderNames.CONTENT_LENGTH);
      closeAfter(headers);
    }
  }

  /** Keeps the pod's own options: the fields that they name are not passed on. */
  private static void closeAfter(HttpHeaders headers) {
    headers.add(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
  }

  /** The field is removed already. */
  @Override
  protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
    clearContentLength();
  }

  /**
   * Whether the body is chunked. Refuses any other coding, because that field is not passed on, and
   * the caller could not read the body.
   */
  private static boolean isChunked(HttpHeaders headers) {
    var coding = headers.get(HttpHeaderNames.TRANSFER_ENCODING);
    if (coding != null && (!HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(coding)
        || headers.getAll(HttpHeaderNames.TRANSFER_ENCODING).size() > 1)) {
      throw new IllegalArgumentException("unknown transfer coding");
    }
    return coding != null;
  }

  @Override
  protected String splitFirstWordInitialLine(byte[] line, int start, int length) {
    fields = 0;
    return is(HTTP_1_1, line, start, length)
        ? HTTP_1_1.toString()
        : super.splitFirstWordInitialLine(line, start, length);
  }

  @Override
  protected String splitSecondWordInitialLine(byte[] line, int start, int length) {
    return is(CODE, line, start, length)
        ? CODE.toString()
        : super.splitSecondWordInitialLine(line, start, length);
  }

  @Override
  protected String splitThirdWordInitialLine(byte[] line, int start, int length) {
    return is(REASON, line, start, length)
        ? REASON.toString()
        : super.splitThirdWordInitialLine(line, start, length);
  }

  @Override
  protected HttpMessage createMessage(String[] line) {
    if (IncomingHttp2Head.statusCode(line[1]) == IncomingHttp2Head.NO_STATUS) {
      throw new IllegalArgumentException("malformed status code");
    }
    var message = super.createMessage(line);
    version = message.protocolVersion();
    if (HttpVersion.HTTP_1_0.equals(version)) {
      // Until the lengths are read: of unequal ones Netty takes the first, if it is HTTP/1.0.
      message.setProtocolVersion(HttpVersion.HTTP_1_1);
    }
    return message;
  }

  private static boolean is(AsciiString word, byte[] line, int start, int length) {
    return Arrays.equals(word.array(), 0, word.length(), line, start, start + length);
  }

  @Override
  protected AsciiString splitHeaderName(byte[] line, int start, int length) {
    fields++;
    if (fields > HeaderFieldList.MAX_IN_RESPONSE) {
      throw new TooLongHttpHeaderException(
          "more than " + HeaderFieldList.MAX_IN_RESPONSE + " fields");
    }
    int end = start + length;
    boolean hasColon = line[end] == ':' || lineHasColon();
    while (hasColon && (line[end] == ' ' || line[end] == '\t')) {
      end++;
    }
    if (line[end] != ':') {
      throw new IllegalArgumentException("white space in a field's name");
    }
    var known = HeaderNameCache.of(line, start, length);
    return known == null
        ? HeaderFieldList.checked(super.splitHeaderName(line, start, length))
        : known;
  }

  /** Whether the line has a colon. Netty also accepts white space instead of the colon. */
  private boolean lineHasColon() {
    int end = reading.readerIndex() - 1;
    int start = reading.indexOf(end, 0, HttpConstants.LF) + 1;
    return reading.indexOf(start, end, HttpConstants.COLON) >= 0;
  }

  /** Makes trailers only for chunked bodies. Netty allocates them for every body. */
  private static final class Trailers implements HttpHeadersFactory {
    private boolean possible;

    @Override
    public HttpHeaders newHeaders() {
      return possible
          ? DefaultHttpHeadersFactory.trailersFactory().newHeaders()
          : EmptyHttpHeaders.INSTANCE;
    }

    @Override
    public HttpHeaders newEmptyHeaders() {
      return newHeaders();
    }
  }
}
