package dev.activator.http;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * A head to send (pseudo-headers and fields), or trailers, in the form that Netty's HTTP/2 encoder
 * reads: in order, with lower-case names, without connection-specific fields. The fields are not
 * copied. One object can be reused for all heads that are encoded at once.
 *
 * <p><b>Source.</b> RFC 9113, section 8.2.
 */
public final class OutgoingHttp2Head extends DefaultHttp2Headers {
  private static final PseudoHeaderName[] ORDER = {PseudoHeaderName.STATUS,
      PseudoHeaderName.METHOD, PseudoHeaderName.SCHEME, PseudoHeaderName.PATH,
      PseudoHeaderName.AUTHORITY};

  private final Each each = new Each();
  private HeaderFieldList fields = HeaderFieldList.NONE;
  private @Nullable CharSequence status;
  private @Nullable CharSequence method;
  private @Nullable CharSequence scheme;
  private @Nullable CharSequence path;
  private @Nullable CharSequence authority;

  public OutgoingHttp2Head() {
    // The table of the superclass stays empty.
    super(false, 2);
  }

  public Http2Headers request(CharSequence method, CharSequence scheme,
      CharSequence path, @Nullable CharSequence authority, HttpHeaders headers) {
    trailers(headers);
    this.method = method;
    this.scheme = scheme;
    this.path = path;
    this.authority = authority;
    return this;
  }

  public Http2Headers response(CharSequence status, HttpHeaders headers) {
    trailers(headers);
    this.status = status;
    return this;
  }

  /** A connection without requests must not keep a large head. */
  void forget() {
    trailers(HeaderFieldList.NONE);
  }

  public Http2Headers trailers(HttpHeaders headers) {
    status = null;
    method = null;
    scheme = null;
    path = null;
    authority = null;
    fields = HeaderFieldList.of(headers);
    return this;
  }

  @Override
  public @Nullable CharSequence status() {
    return status;
  }

  private @Nullable CharSequence pseudo(PseudoHeaderName name) {
    return switch (name) {
      case STATUS -> status;
      case METHOD -> method;
      case SCHEME -> scheme;
      case PATH -> path;
      case AUTHORITY -> authority;
      case PROTOCOL -> null;
    };
  }

  @Override
  public int size() {
    int size = 0;
    for (var _ : this) {
      size++;
    }
    return size;
  }

  @Override
  public boolean isEmpty() {
    return !iterator().hasNext();
  }

  @Override
  public Iterator<Map.Entry<CharSequence, CharSequence>> iterator() {
    each.pseudo = 0;
    each.field = 0;
    each.ready = false;
    return each;
  }

  /** An iterator that is also its current entry, so an entry is valid until the next call. */
  private final class Each
      implements Iterator<Map.Entry<CharSequence, CharSequence>>,
      Map.Entry<CharSequence, CharSequence> {
    private int pseudo;
    private int field;
    private boolean ready;
    private CharSequence name = "";
    private CharSequence value = "";

    @Override
    public boolean hasNext() {
      while (!ready && pseudo < ORDER.length) {
        var each = ORDER[pseudo++];
        var text = pseudo(each);
        if (text != null) {
          ready(each.value(), text);
        }
      }
      while (!ready && field < fields.size()) {
        var each = HeaderNameCache.lowerCase(fields.name(field));
        if (!isOfConnection(each)) {
          ready(each, fields.value(field));
        }
        field++;
      }
      return ready;
    }

    private void ready(CharSequence itsName, CharSequence itsValue) {
      ready = true;
      name = itsName;
      value = itsValue;
    }

    @Override
    public Map.Entry<CharSequence, CharSequence> next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      ready = false;
      return this;
    }

    @Override
    public CharSequence getKey() {
      return name;
    }

    @Override
    public CharSequence getValue() {
      return value;
    }

    @Override
    public CharSequence setValue(CharSequence other) {
      throw new UnsupportedOperationException();
    }
  }

  private static boolean isOfConnection(AsciiString name) {
    return switch (name.length()) {
      case 4 -> name.contentEquals(HttpHeaderNames.HOST);
      case 7 -> name.contentEquals(HttpHeaderNames.UPGRADE);
      case 10 -> name.contentEquals(HttpHeaderNames.CONNECTION)
          || name.contentEquals("keep-alive");
      case 16 -> name.contentEquals("proxy-connection");
      case 17 -> name.contentEquals(HttpHeaderNames.TRANSFER_ENCODING);
      default -> false;
    };
  }
}
