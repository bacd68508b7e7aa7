package dev.activator.proxy.policy;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests whose framing another proxy could read differently. The decoder has checked
 * lines and lengths.
 *
 * <p><b>Source.</b> RFC 9112, sections 3.2 and 6.1; RFC 9110, sections 6.5.1 and 9.3.8; {@code
 * readRequest} in Go's {@code server.go}.
 */
public final class FramingCheck {
  /**
   * @param host overrides {@code Host}
   * @param path path and query, byte for byte
   */
  public record Target(@Nullable String host, String path) {}

  private static final boolean[] IN_HOST = new boolean[128];

  static {
    for (char c = '0'; c <= '9'; c++) {
      IN_HOST[c] = true;
    }
    for (char c = 'A'; c <= 'Z'; c++) {
      IN_HOST[c] = true;
      IN_HOST[Character.toLowerCase(c)] = true;
    }
    for (char c : "!$%&()*+,-.:;=[]'_~".toCharArray()) {
      IN_HOST[c] = true;
    }
  }

  private FramingCheck() {}

  /** Null if nothing is wrong. */
  public static @Nullable RequestFailure check(RequestVersion version, String method,
      HeaderFieldList fields) {
    if (version == RequestVersion.OTHER) {
      return RequestFailure.unknownVersion();
    }
    if (method.equals("TRACE") && hasBody(fields)) {
      return RequestFailure.badRequest("TRACE with a body");
    }
    String host = fields.first(KnownHeader.HOST);
    if (host == null && version == RequestVersion.HTTP_1_1) {
      return RequestFailure.badRequest("missing required Host header");
    }
    if (host != null && fields.isRepeated(KnownHeader.HOST)) {
      return RequestFailure.badRequest("too many Host headers");
    }
    if (host != null && !isHost(host)) {
      return RequestFailure.badRequest("malformed Host header");
    }
    return fields.has(KnownHeader.TRANSFER_ENCODING) ? coding(fields) : null;
  }

  public static boolean hasBody(HeaderFieldList fields) {
    String length = fields.first(KnownHeader.CONTENT_LENGTH);
    return fields.has(KnownHeader.TRANSFER_ENCODING) || (length != null && !length.equals("0"));
  }

  private static @Nullable RequestFailure coding(HeaderFieldList fields) {
    if (fields.has(KnownHeader.CONTENT_LENGTH)) {
      return RequestFailure.badRequest("both Content-Length and Transfer-Encoding");
    }
    var codings = fields.all(KnownHeader.TRANSFER_ENCODING);
    return codings.size() == 1 && codings.getFirst().equalsIgnoreCase("chunked")
        ? null
        : RequestFailure.unknownCoding();
  }

  /** Null if nothing is wrong. */
  public static @Nullable RequestFailure expectation(RequestVersion version,
      HeaderFieldList fields) {
    String expect = fields.first(KnownHeader.EXPECT);
    return expect == null || version == RequestVersion.HTTP_1_0
        || expect.equalsIgnoreCase("100-continue")
            ? null
            : RequestFailure.unknownExpectation();
  }

  /**
   * Whether a field may be in trailers. False for fields that change the meaning of the request,
   * because readers disagree on whether trailers count as headers.
   */
  public static boolean mayTrail(String name) {
    for (var field : KnownHeader.values()) {
      if (field.text().equalsIgnoreCase(name)) {
        return false;
      }
    }
    return true;
  }

  /**
   * The target in origin, absolute or asterisk form; null for any other. CONNECT is not supported,
   * as this is no forward proxy.
   */
  public static @Nullable Target target(String method, String text) {
    if (method.equals("CONNECT") || !isPrintable(text)) {
      return null;
    }
    return text.startsWith("/") || (text.equals("*") && method.equals("OPTIONS"))
        ? new Target(null, text)
        : absolute(method, text);
  }

  private static @Nullable Target absolute(String method, String text) {
    int colon = text.indexOf("://");
    if (colon < 0) {
      return null;
    }
    String scheme = text.substring(0, colon).toLowerCase(Locale.ROOT);
    int from = colon + 3;
    int to = endOfAuthority(text, from);
    String host = text.substring(from, to);
    if ((!scheme.equals("http") && !scheme.equals("https")) || host.isEmpty()
        || !isHost(host)) {
      return null;
    }
    String path = text.substring(to);
    if (path.isEmpty() && method.equals("OPTIONS")) {
      // RFC 9112, section 3.2.4.
      return new Target(host, "*");
    }
    return new Target(host, path.startsWith("/") ? path : "/" + path);
  }

  private static int endOfAuthority(String text, int from) {
    int at = from;
    while (at < text.length() && text.charAt(at) != '/' && text.charAt(at) != '?') {
      at++;
    }
    return at;
  }

  private static boolean isPrintable(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c <= ' ' || c == 0x7f) {
        return false;
      }
    }
    return true;
  }

  private static boolean isHost(String host) {
    for (int i = 0; i < host.length(); i++) {
      char c = host.charAt(i);
      if (c >= IN_HOST.length || !IN_HOST[c]) {
        return false;
      }
    }
    return true;
  }
}
