package dev.activator.proxy;

import dev.activator.http.HeaderFieldList;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.http.KnownHeader;
import dev.activator.proxy.policy.UpgradeNegotiation;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2Settings;
import java.nio.ByteBuffer;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * A request to continue in HTTP/2, ignored if it has a body.
 *
 * <p><b>Source.</b> RFC 7540, section 3.2.
 */
record H2cUpgrade(HttpRequest request, Http2Settings settings) {
  private static final int SETTING_BYTES = 6;

  /** The upgrade in a request; null if there is none, or if it is malformed. */
  static @Nullable H2cUpgrade of(HttpRequest request) {
    if (!request.headers().contains(HttpHeaderNames.UPGRADE)
        || request.decoderResult().isFailure()) {
      return null;
    }
    var fields = HeaderFieldList.in(request);
    if (!fields.has(KnownHeader.HOST)
        || !UpgradeNegotiation.toHttp2(Http1RequestDecoder.version(request), fields)) {
      return null;
    }
    var settings = settings(fields.text(KnownHeader.HTTP2_SETTINGS));
    return settings == null ? null : new H2cUpgrade(request, settings);
  }

  private static @Nullable Http2Settings settings(String text) {
    try {
      var bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(text));
      var settings = new Http2Settings();
      while (bytes.remaining() >= SETTING_BYTES) {
        settings.put((char) bytes.getShort(), Long.valueOf(bytes.getInt() & 0xffff_ffffL));
      }
      return bytes.hasRemaining() ? null : settings;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  static HttpResponse switchingProtocols() {
    var response = new DefaultHttpResponse(HttpVersion.HTTP_1_1,
        HttpResponseStatus.SWITCHING_PROTOCOLS, HeaderFieldList.CHECKED);
    UpgradeNegotiation.put(HeaderFieldList.in(response), "h2c");
    return response;
  }
}
