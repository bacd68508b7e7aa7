package dev.activator.upstream.codec;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * Reads heads of HTTP/2 into Netty's HTTP/1 messages, in which requests are handled.
 *
 * <p><b>Source.</b> RFC 9113, section 8.2.
 */
public final class Http2Fields {
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
}
