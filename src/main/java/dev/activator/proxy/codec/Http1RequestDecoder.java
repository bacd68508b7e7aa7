package dev.activator.proxy.codec;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.HeaderNameCache;
import dev.activator.http.HopByHopFields;
import dev.activator.proxy.policy.FramingCheck;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.proxy.policy.UpgradeNegotiation;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A decoder of requests that refuses what Netty's decoder silently corrects: folded or loosely written
 * lines, a carriage return within a line, a second Content-Length, a body without a length, trailers
 * that belong in the head. A head may have a little more than one MiB, as in Go.
 *
 * <p>Bytes after a request for another protocol are passed on undecoded until {@link #parse} is
 * called.
 *
 * <p><b>Errors.</b> The decoder result of the message, or of its last part, has the cause. The
 * decoder passes on nothing after that.
 *
 * <p><b>Source.</b> RFC 9112, sections 2.2, 3, 5.2, 6.3 and 7.1.
 */
public final class Http1RequestDecoder extends HttpRequestDecoder {
  private static final int MAX_HEAD_BYTES = (1 << 20) + (4 << 10);
  private static final int MAX_PIECE_BYTES = 64 << 10;
  private static final String PROTOCOL = "HTTP/";

  private final LineValidator head = LineValidator.ofHead(MAX_HEAD_BYTES);
  private final HopByHopFields hopByHop = new HopByHopFields();
  private @Nullable ChunkValidator chunks;
  /** The number of bytes that are validated but not consumed yet. */
  private int seen;
  private int fields;
  private boolean hasLength;
  private boolean hasUpgrade;
  private boolean refused;
  /** Whether the last request, which wanted another protocol, has ended. */
  private boolean unparsed;
  private boolean betweenRequests = true;
  private int largestHeadBytes;
  /** Where the previous part of the request line ended. */
  private int partEnd;

  public Http1RequestDecoder() {
    super(new HttpDecoderConfig().setMaxInitialLineLength(MAX_HEAD_BYTES)
        .setMaxHeaderSize(MAX_HEAD_BYTES).setMaxChunkSize(MAX_PIECE_BYTES)
        .setHeadersFactory(HeaderFieldList.CHECKED));
  }

  /** The bytes of an incomplete head; 0 if there is none. */
  public int partialHeadBytes() {
    return refused ? 0 : head.partialBytes();
  }

  public int fields() {
    return fields;
  }

  /**
   * Whether the decoder holds much memory: Netty's line buffer stays as large as the largest head
   * was.
   */
  public boolean keepsMuchMemory() {
    return largestHeadBytes > HeldMemoryLimit.LARGE_HEAD_BYTES;
  }

  public boolean isBetweenRequests() {
    return !refused && !unparsed && betweenRequests;
  }

  public boolean isUnparsed() {
    return unparsed;
  }

  /** Parses the next bytes as HTTP again, because the other protocol was refused. */
  public void parse() {
    unparsed = false;
  }

  /** Drops everything from now on. */
  public void stop() {
    refused = true;
  }

  /** The message that stands for a refused head. */
  public static HttpRequest refusal(Exception why) {
    var refusal = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/",
        Unpooled.EMPTY_BUFFER, HeaderFieldList.CHECKED, HeaderFieldList.CHECKED);
    refusal.setDecoderResult(DecoderResult.failure(why));
    return refusal;
  }

  public static RequestVersion version(HttpRequest request) {
    var version = request.protocolVersion();
    if (version.equals(HttpVersion.HTTP_1_1)) {
      return RequestVersion.HTTP_1_1;
    }
    return version.equals(HttpVersion.HTTP_1_0) ? RequestVersion.HTTP_1_0 : RequestVersion.OTHER;
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
      throws Exception {
    if (refused) {
      in.skipBytes(in.readableBytes());
      return;
    }
    if (unparsed) {
      out.add(in.readRetainedSlice(in.readableBytes()));
      return;
    }
    try {
      validate(in);
    } catch (MalformedRequestException | TooLongHttpHeaderException e) {
      refuse(in, out, e);
      return;
    }
    int before = in.readerIndex();
    super.decode(context, in, out);
    seen = Math.max(0, seen - (in.readerIndex() - before));
    if (!out.isEmpty()) {
      after(in, out);
    }
  }

  /** Validates bytes up to the end of the head or of the body. */
  private void validate(ByteBuf in) {
    int from = in.readerIndex() + seen;
    int to = in.writerIndex();
    int at = chunks == null ? head.validate(in, from, to) : chunks.validate(in, from, to);
    seen = at - in.readerIndex();
    betweenRequests &= at == from;
  }

  private void after(ByteBuf in, List<Object> out) {
    if (hasUpgrade && out.getFirst() instanceof HttpRequest request) {
      hasUpgrade = UpgradeNegotiation.wanted(version(request), HeaderFieldList.in(request)) != null;
    }
    var last = (HttpObject) out.getLast();
    if (last.decoderResult().isFailure()) {
      refused = true;
    } else if (last instanceof LastHttpContent end) {
      if (chunks != null) {
        hopByHop.removeFrom(end.trailingHeaders());
      }
      startOver();
    } else if (last instanceof HttpRequest request) {
      bodyFollows(request, in, out);
    }
  }

  private void bodyFollows(HttpRequest request, ByteBuf in, List<Object> out) {
    if (HttpUtil.isTransferEncodingChunked(request)) {
      chunks = new ChunkValidator();
      hopByHop.head(HeaderFieldList.in(request));
    } else if (!hasLength) {
      // Netty expects a body of eight bytes in requests of the first WebSocket drafts.
      out.clear();
      refuse(in, out, new MalformedRequestException("a body without a length"));
    }
  }

  private void startOver() {
    largestHeadBytes = Math.max(largestHeadBytes, head.bytes());
    betweenRequests = true;
    head.startOver();
    chunks = null;
    seen = 0;
    fields = 0;
    hasLength = false;
    unparsed = hasUpgrade;
    hasUpgrade = false;
  }

  @Override
  protected String splitFirstWordInitialLine(byte[] line, int start, int length) {
    if (start != 0) {
      throw new MalformedRequestException("blank before the method");
    }
    partEnd = length;
    return super.splitFirstWordInitialLine(line, start, length);
  }

  @Override
  protected String splitSecondWordInitialLine(byte[] line, int start, int length) {
    checkGap(line, start);
    partEnd = start + length;
    return super.splitSecondWordInitialLine(line, start, length);
  }

  @Override
  protected String splitThirdWordInitialLine(byte[] line, int start, int length) {
    checkGap(line, start);
    String version = super.splitThirdWordInitialLine(line, start, length);
    if (!version.startsWith(PROTOCOL)) {
      throw new MalformedRequestException("malformed version");
    }
    return version;
  }

  private void checkGap(byte[] line, int start) {
    if (start != partEnd + 1 || line[partEnd] != HttpConstants.SP) {
      throw new MalformedRequestException(
          "not exactly one blank between the parts of the request line");
    }
  }

  @Override
  protected AsciiString splitHeaderName(byte[] line, int start, int length) {
    fields++;
    if (fields > HeaderFieldList.MAX_IN_REQUEST) {
      throw new TooLongHttpHeaderException(
          "more than " + HeaderFieldList.MAX_IN_REQUEST + " fields");
    }
    var known = HeaderNameCache.of(line, start, length);
    var name = known == null
        ? HeaderFieldList.checked(super.splitHeaderName(line, start, length))
        : known;
    if (chunks != null) {
      checkTrailer(name);
    } else if (name.length() == HttpHeaderNames.CONTENT_LENGTH.length()
        && HttpHeaderNames.CONTENT_LENGTH.contentEqualsIgnoreCase(name)) {
      countLength();
    } else if (name.length() == HttpHeaderNames.UPGRADE.length()
        && HttpHeaderNames.UPGRADE.contentEqualsIgnoreCase(name)) {
      hasUpgrade = true;
    }
    return name;
  }

  @Override
  protected boolean isContentAlwaysEmpty(HttpMessage request) {
    if (HopByHopFields.isTooLong(HeaderFieldList.in(request))) {
      throw new MalformedRequestException(
          "more than " + HeaderFieldList.MAX_ELEMENTS + " options of the connection");
    }
    return super.isContentAlwaysEmpty(request);
  }

  private void countLength() {
    if (hasLength) {
      throw new MalformedRequestException("more than one Content-Length");
    }
    hasLength = true;
  }

  private static void checkTrailer(AsciiString name) {
    if (!FramingCheck.mayTrail(name.toString())) {
      throw new MalformedRequestException("trailer that belongs in the head");
    }
  }

  private void refuse(ByteBuf in, List<Object> out, Exception why) {
    refused = true;
    in.skipBytes(in.readableBytes());
    if (chunks == null) {
      out.add(refusal(why));
    } else {
      var refusal = new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER);
      refusal.setDecoderResult(DecoderResult.failure(why));
      out.add(refusal);
    }
  }

  /**
   * Validates the line ends of a head or of trailers.
   *
   * <p><b>Errors.</b> {@link MalformedRequestException} for folded lines and for a carriage return or line feed
   * alone; {@link TooLongHttpHeaderException}.
   *
   * <p><b>Source.</b> RFC 9112, sections 2.2 and 5.2.
   */
  static final class LineValidator {
    private enum Next {
      FIRST,
      FIELDS,
      NOTHING
    }

    private final int maxBytes;
    private Next next;
    private int bytes;
    private boolean empty = true;
    private boolean afterReturn;

    private LineValidator(Next first, int maxBytes) {
      this.next = first;
      this.maxBytes = maxBytes;
    }

    static LineValidator ofHead(int maxBytes) {
      return new LineValidator(Next.FIRST, maxBytes);
    }

    static LineValidator ofTrailers(int maxBytes) {
      return new LineValidator(Next.FIELDS, maxBytes);
    }

    void startOver() {
      next = Next.FIRST;
      bytes = 0;
      empty = true;
      afterReturn = false;
    }

    int bytes() {
      return bytes;
    }

    /**
     * The bytes of the head so far; 0 if it is complete, or has not begun. Empty lines before it do
     * not count.
     */
    int partialBytes() {
      return next == Next.NOTHING || next == Next.FIRST && empty ? 0 : bytes;
    }

    /** Returns the end of the last line, or {@code to} if it has not come. */
    int validate(ByteBuf in, int from, int to) {
      int at = from;
      while (at < to && next != Next.NOTHING) {
        at = afterReturn ? endLine(in, at) : line(in, at, to);
      }
      bytes += at - from;
      if (bytes > maxBytes) {
        throw new TooLongHttpHeaderException("more than " + maxBytes + " bytes");
      }
      return at;
    }

    private int line(ByteBuf in, int at, int to) {
      if (empty) {
        checkFirst(in.getByte(at));
      }
      int carriageReturn = in.indexOf(at, to, HttpConstants.CR);
      empty &= carriageReturn == at;
      afterReturn = carriageReturn >= 0;
      return afterReturn ? carriageReturn + 1 : to;
    }

    private void checkFirst(byte first) {
      if (first == HttpConstants.LF) {
        throw new MalformedRequestException("line feed without a carriage return");
      }
      if (next == Next.FIELDS && (first == HttpConstants.SP || first == HttpConstants.HT)) {
        throw new MalformedRequestException("folded header line");
      }
    }

    private int endLine(ByteBuf in, int at) {
      if (in.getByte(at) != HttpConstants.LF) {
        throw new MalformedRequestException("carriage return within a line");
      }
      if (next == Next.FIELDS && empty) {
        next = Next.NOTHING;
      } else if (!empty) {
        next = Next.FIELDS;
      }
      empty = true;
      afterReturn = false;
      return at + 1;
    }
  }
}
