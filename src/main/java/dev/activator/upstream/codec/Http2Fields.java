package dev.activator.upstream.codec;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Converts fields between HTTP/2 and Netty's HTTP/1 messages, in which requests are handled.
 *
 * <p><b>Source.</b> RFC 9113, section 8.2.
 */
public final class Http2Fields {
  private static final int EXPECTED = 16;

  private Http2Fields() {}

  /** Values have been checked; pseudo-headers are left out. */
  public static HttpHeaders read(Http2Headers from) {
    var to = new FieldList(false);
    for (var field : from) {
      var name = field.getKey();
      if (name.charAt(0) != ':') {
        to.add(name, field.getValue());
      }
    }
    return to;
  }

  /** Null if malformed. */
  public static @Nullable HttpResponseStatus status(Http2Headers from) {
    int code = ResponseDecoder.statusCode(from.status());
    return code == ResponseDecoder.NO_STATUS ? null : HttpResponseStatus.valueOf(code);
  }

  /** Pseudo-headers must be added first. */
  public static Http2Headers empty() {
    return new DefaultHttp2Headers(false, EXPECTED);
  }

  /** Skips connection-specific fields. */
  public static Http2Headers add(Http2Headers to, HttpHeaders from) {
    var fields = from.iteratorCharSequence();
    while (fields.hasNext()) {
      var field = fields.next();
      var name = KnownNames.small(field.getKey());
      if (!isOfConnection(name)) {
        to.add(name, field.getValue());
      }
    }
    return to;
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
