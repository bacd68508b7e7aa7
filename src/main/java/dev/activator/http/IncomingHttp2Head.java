package dev.activator.http;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderValidationUtil;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A received HTTP/2 head (pseudo-headers and fields), filled by Netty's HPACK decoder. A
 * connection reuses one object: it is valid until the next head, but its fields may be kept.
 *
 * <p><b>Errors.</b> An {@link IllegalArgumentException} for a malformed field. Netty's decoder
 * turns it into a stream error.
 *
 * <p><b>Source.</b> RFC 9113, sections 8.2 and 8.3.
 */
public final class IncomingHttp2Head extends DefaultHttp2Headers {
  public static final int NO_STATUS = -1;

  private static final int STATUS_DIGITS = 3;
  private static final int SLACK_BYTES = 64;
  /**
   * The maximum of {@link #tableBytes}: an HPACK table of 4 KiB whose strings have arrays of six
   * times their length.
   */
  private static final int MAX_TABLE_BYTES = 24 << 10;

  private final boolean ofRequest;
  private HeaderFieldList fields = new HeaderFieldList(false);
  private int pseudoHeaders;
  private int tableBytes;
  private boolean endsInBlank;
  private @Nullable Http2Exception malformed;
  private @Nullable CharSequence method;
  private @Nullable CharSequence scheme;
  private @Nullable CharSequence authority;
  private @Nullable CharSequence path;
  private @Nullable CharSequence status;

  IncomingHttp2Head(boolean ofRequest) {
    // The table of the superclass stays empty.
    super(false, 2);
    this.ofRequest = ofRequest;
  }

  /**
   * Decodes all heads of a connection into the same object. It also returns a malformed head, so
   * that its stream is known when its body comes; {@link #check} refuses such a head.
   */
  static final class Decoder extends DefaultHttp2HeadersDecoder {
    private final IncomingHttp2Head head;

    /** @param ofRequests whether it decodes requests, else responses */
    Decoder(boolean ofRequests, long maxBytes) {
      super(false, maxBytes);
      head = new IncomingHttp2Head(ofRequests);
    }

    @Override
    protected Http2Headers newHeaders() {
      head.reset(new HeaderFieldList(false));
      return head;
    }

    /**
     * Counts the bytes of a malformed head for the table: after a malformed field, Netty adds the
     * other fields to the table without passing them to the head.
     */
    @Override
    public Http2Headers decodeHeaders(int stream, ByteBuf block) throws Http2Exception {
      int bytes = block.readableBytes();
      try {
        return super.decodeHeaders(stream, block);
      } catch (Http2Exception e) {
        head.countTable(2 * bytes);
        if (!Http2Exception.isStreamError(e)) {
          throw e;
        }
        head.refuse(e);
        return head;
      }
    }

    /** An upper bound of the bytes of oversized arrays in the HPACK table. */
    int tableBytes() {
      return head.tableBytes;
    }

    /** An idle connection must not keep a large head. */
    void forget() {
      head.reset(HeaderFieldList.NONE);
    }
  }

  private void reset(HeaderFieldList empty) {
    fields = empty;
    pseudoHeaders = 0;
    endsInBlank = false;
    malformed = null;
    method = null;
    scheme = null;
    authority = null;
    path = null;
    status = null;
  }

  /**
   * Marks the head as malformed. Sets placeholders, because Netty checks that the pseudo-headers
   * exist before it passes the head on.
   */
  private void refuse(Http2Exception why) {
    reset(HeaderFieldList.NONE);
    malformed = why;
    method = "GET";
    scheme = "http";
    path = "/";
    status = "500";
  }

  @Override
  public Http2Headers add(CharSequence name, CharSequence received) {
    // Servers pad values of responses; of a request that would be another value for each reader.
    var value = ofRequest ? received : withoutBlanks(received);
    if (HttpHeaderValidationUtil.validateValidHeaderValue(value) != -1) {
      throw new IllegalArgumentException("malformed value");
    }
    endsInBlank |= !value.isEmpty() && isBlank(value.charAt(value.length() - 1));
    if (!name.isEmpty() && name.charAt(0) == ':') {
      addPseudo(name, value);
    } else {
      var checked = checked(compact(name));
      if (HttpHeaderValidationUtil.isConnectionHeader(checked, true)
          || HttpHeaderValidationUtil.isTeNotTrailers(checked, value)) {
        throw new IllegalArgumentException("the connection-specific field " + name);
      }
      fields.add(checked, compact(value));
    }
    return this;
  }

  /**
   * Copies text out of an oversized array, because Netty's size limit counts only the text and not
   * the array.
   */
  private AsciiString compact(CharSequence text) {
    var read = AsciiString.of(text);
    if (read.array().length <= 2 * read.length() + SLACK_BYTES) {
      return read;
    }
    countTable(read.array().length);
    return new AsciiString(read.array(), read.arrayOffset(), read.length(), true);
  }

  private void countTable(int more) {
    tableBytes = Math.min(MAX_TABLE_BYTES, tableBytes + more);
  }

  private static CharSequence withoutBlanks(CharSequence value) {
    int from = 0;
    int to = value.length();
    while (from < to && isBlank(value.charAt(from))) {
      from++;
    }
    while (from < to && isBlank(value.charAt(to - 1))) {
      to--;
    }
    return value.subSequence(from, to);
  }

  private static boolean isBlank(char c) {
    return c == ' ' || c == '\t';
  }

  private static AsciiString checked(AsciiString name) {
    var known = HeaderNameCache.ofLowerCase(name);
    if (known != null) {
      return known;
    }
    HeaderFieldList.checked(name);
    for (int i = 0; i < name.length(); i++) {
      if (AsciiString.isUpperCase(name.byteAt(i))) {
        throw new IllegalArgumentException("a name in upper case");
      }
    }
    return name;
  }

  private void addPseudo(CharSequence name, CharSequence value) {
    var pseudo = PseudoHeaderName.getPseudoHeader(AsciiString.of(name));
    if (pseudo == null || value.isEmpty() || !fields.isEmpty()) {
      throw new IllegalArgumentException("a pseudo-header that is unknown, empty or late");
    }
    if (pseudoHeaders > 0 && pseudo.isRequestOnly() == (status != null)) {
      throw new IllegalArgumentException("pseudo-headers of a request and a response together");
    }
    pseudoHeaders++;
    var text = compact(value);
    switch (pseudo) {
      case METHOD -> method = once(method, text);
      case SCHEME -> scheme = once(scheme, text);
      case AUTHORITY -> authority = once(authority, text);
      case PATH -> path = once(path, text);
      case PROTOCOL -> throw new IllegalArgumentException("no extended CONNECT was offered");
      case STATUS -> status = once(status, text);
    }
  }

  private static CharSequence once(@Nullable CharSequence before, CharSequence value) {
    if (before != null) {
      throw new IllegalArgumentException("a repeated pseudo-header");
    }
    return value;
  }

  void check() throws Http2Exception {
    if (malformed != null) {
      throw malformed;
    }
  }

  public HttpHeaders fields() {
    return fields;
  }

  /** Whether any value ends in a blank. A value that begins with one is malformed. */
  public boolean endsInBlank() {
    return endsInBlank;
  }

  public boolean hasPseudoHeaders() {
    return pseudoHeaders > 0;
  }

  @Override
  public @Nullable CharSequence method() {
    return method;
  }

  @Override
  public @Nullable CharSequence scheme() {
    return scheme;
  }

  @Override
  public @Nullable CharSequence authority() {
    return authority;
  }

  @Override
  public @Nullable CharSequence path() {
    return path;
  }

  @Override
  public @Nullable CharSequence status() {
    return status;
  }

  /** The status; null if it is malformed. */
  public @Nullable HttpResponseStatus responseStatus() {
    int code = statusCode(status);
    return code == NO_STATUS ? null : HttpResponseStatus.valueOf(code);
  }

  /**
   * The status code if the text is three digits and the first is not zero; otherwise
   * {@link #NO_STATUS}.
   *
   * <p><b>Source.</b> RFC 9110, section 15.
   */
  public static int statusCode(@Nullable CharSequence text) {
    if (text == null || text.length() != STATUS_DIGITS || text.charAt(0) == '0') {
      return NO_STATUS;
    }
    int code = 0;
    for (int i = 0; i < STATUS_DIGITS; i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9') {
        return NO_STATUS;
      }
      code = 10 * code + (c - '0');
    }
    return code;
  }

  @Override
  public boolean contains(CharSequence name) {
    return fields.contains(name);
  }

  @Override
  public List<CharSequence> getAll(CharSequence name) {
    return Collections.unmodifiableList(fields.getAll(name));
  }

  @Override
  public Http2Headers setLong(CharSequence name, long value) {
    var text = fields.get(name);
    if (text == null || !isPlain(text) || fields.isRepeated(name)) {
      fields.set(name, Long.toString(value));
    }
    return this;
  }

  /** Whether the text is the canonical form of its number. */
  private static boolean isPlain(String text) {
    boolean padded = text.charAt(0) == '0' && text.length() > 1;
    return !padded && Character.isDigit(text.charAt(text.length() - 1)) && text.indexOf(',') < 0;
  }

  @Override
  public int size() {
    return pseudoHeaders + fields.size();
  }

  @Override
  public boolean isEmpty() {
    return size() == 0;
  }
}
