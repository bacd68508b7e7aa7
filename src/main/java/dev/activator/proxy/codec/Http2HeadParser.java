package dev.activator.proxy.codec;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.IncomingHttp2Head;
import dev.activator.proxy.policy.FramingCheck;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValidationUtil;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpScheme;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import org.jspecify.annotations.Nullable;

/**
 * Parses the head of an HTTP/2 request, as strictly as an HTTP/1 head.
 *
 * <p><b>Errors.</b> Stream errors. The decoder has already checked the names, and that values have
 * no control characters.
 *
 * <p><b>Source.</b> RFC 9113, sections 8.2.1, 8.2.3 and 8.3.1; RFC 3986, section 6.2.3.
 */
public final class Http2HeadParser {
  public static final HttpVersion VERSION = HttpVersion.valueOf("HTTP/2.0");

  private Http2HeadParser() {}

  public static HttpRequest parse(int stream, IncomingHttp2Head from) throws Http2Exception {
    if (from.size() > HeaderFieldList.MAX_IN_REQUEST) {
      throw Http2Exception.headerListSizeError(stream, Http2Error.PROTOCOL_ERROR, true,
          "more than %d fields", HeaderFieldList.MAX_IN_REQUEST);
    }
    if (from.endsInBlank()) {
      throw malformed(stream, "malformed value");
    }
    var headers = from.fields();
    setHost(stream, from, headers);
    joinCookies(headers);
    return new DefaultHttpRequest(VERSION, method(stream, from), path(stream, from), headers,
        false);
  }

  /** Joins Cookie fields: HTTP/2 may split them, HTTP/1 may not. */
  private static void joinCookies(HttpHeaders headers) {
    var parts = headers.getAll(HttpHeaderNames.COOKIE);
    if (parts.size() > 1) {
      headers.set(HttpHeaderNames.COOKIE, String.join("; ", parts));
    }
  }

  public static HttpHeaders trailers(int stream, IncomingHttp2Head from) throws Http2Exception {
    if (from.endsInBlank()) {
      throw malformed(stream, "malformed value");
    }
    if (from.hasPseudoHeaders()) {
      throw malformed(stream, "pseudo-headers in trailers");
    }
    if (from.size() > HeaderFieldList.MAX_IN_REQUEST) {
      throw malformed(stream, "too many trailers");
    }
    for (var name : from.fields().names()) {
      if (!FramingCheck.mayTrail(name)) {
        throw malformed(stream, "a trailer that belongs in the head");
      }
    }
    return from.fields();
  }

  private static HttpMethod method(int stream, IncomingHttp2Head from) throws Http2Exception {
    var name = from.method();
    if (name == null || HttpHeaderValidationUtil.validateToken(name) != -1) {
      throw malformed(stream, "malformed :method");
    }
    return HttpMethod.valueOf(name.toString());
  }

  private static String path(int stream, IncomingHttp2Head from) throws Http2Exception {
    var path = from.path();
    if (path == null) {
      // Only a CONNECT may have no path; it is refused later.
      return "";
    }
    if (path.length() == 0 || (path.charAt(0) != '/' && !path.toString().equals("*"))
        || !HttpUtil.isEncodingSafeStartLineToken(path)) {
      throw malformed(stream, "malformed :path");
    }
    return path.toString();
  }

  private static void setHost(int stream, IncomingHttp2Head from, HttpHeaders headers)
      throws Http2Exception {
    var authority = from.authority();
    if (authority == null) {
      return;
    }
    for (var host : headers.getAll(HttpHeaderNames.HOST)) {
      if (!isSame(host, authority.toString(), from.scheme())) {
        throw malformed(stream, "Host is not :authority");
      }
    }
    headers.set(HttpHeaderNames.HOST, authority);
  }

  /** Whether both name the same authority: an empty port, and that of the scheme, are no port. */
  private static boolean isSame(String host, String authority, @Nullable CharSequence scheme) {
    return host.equalsIgnoreCase(authority) || withoutDefaultPort(host, scheme)
        .equalsIgnoreCase(withoutDefaultPort(authority, scheme));
  }

  private static String withoutDefaultPort(String host, @Nullable CharSequence scheme) {
    int colon = host.lastIndexOf(':');
    String port = host.substring(colon + 1);
    boolean isDefault = port.isEmpty()
        || port.equals("80") && HttpScheme.HTTP.name().contentEqualsIgnoreCase(scheme)
        || port.equals("443") && HttpScheme.HTTPS.name().contentEqualsIgnoreCase(scheme);
    return colon >= 0 && isDefault ? host.substring(0, colon) : host;
  }

  private static Http2Exception malformed(int stream, String what) {
    return Http2Exception.streamError(stream, Http2Error.PROTOCOL_ERROR, what);
  }
}
