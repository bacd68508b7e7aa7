package dev.activator.http;

import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A table of common field names, so that decoders need not allocate strings or compute hashes for
 * them.
 *
 * <p><b>Threads.</b> Any.
 */
public final class HeaderNameCache {
  private static final int SLOTS = 1 << 9;
  private static final List<String> NAMES = List.of("Accept", "Accept-Encoding", "Accept-Language",
      "Accept-Ranges", "Authorization", "Cache-Control", "Connection", "Content-Encoding",
      "Content-Length", "Content-Type", "Cookie", "Date", "ETag", "Expires", "Forwarded", "Host",
      "K-Original-Host", "K-Passthrough-Lb", "K-Proxy-Request", "Keep-Alive",
      "Knative-Serving-Default-Route", "Knative-Serving-Namespace", "Knative-Serving-Revision",
      "Knative-Serving-Tag", "Last-Modified", "Location", "Origin", "Referer", "Server",
      "Set-Cookie", "TE", "Traceparent", "Tracestate", "Trailer", "Transfer-Encoding", "Upgrade",
      "User-Agent", "Vary", "Via", "X-B3-Sampled", "X-B3-SpanId", "X-B3-TraceId",
      "X-Content-Type-Options", "X-Envoy-Attempt-Count", "X-Envoy-Expected-Rq-Timeout-Ms",
      "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "X-Request-Id");
  private static final @Nullable AsciiString[] TABLE = new AsciiString[SLOTS];
  private static final @Nullable AsciiString[] LOWER_CASE = new AsciiString[SLOTS];

  static {
    for (var name : NAMES) {
      var lowerCase = AsciiString.cached(name.toLowerCase(Locale.ROOT));
      put(AsciiString.cached(name), lowerCase);
      put(lowerCase, lowerCase);
    }
  }

  private HeaderNameCache() {}

  private static void put(AsciiString name, AsciiString lowerCase) {
    int slot = slot(name.array(), name.arrayOffset(), name.length());
    if (TABLE[slot] != null) {
      throw new IllegalStateException(name + " and " + TABLE[slot] + " have the same slot");
    }
    TABLE[slot] = name;
    LOWER_CASE[slot] = lowerCase;
  }

  /** The slot of a name. With these factors no two names have the same slot. */
  private static int slot(byte[] bytes, int start, int length) {
    int first = bytes[start];
    int middle = bytes[start + length / 2];
    int last = bytes[start + length - 1];
    return (length * 63 ^ first * 129 ^ middle * 57 ^ last * 239) & (SLOTS - 1);
  }

  /** The common name that these bytes spell; null if there is none. Case matters. */
  public static @Nullable AsciiString of(byte[] bytes, int start, int length) {
    if (length == 0) {
      return null;
    }
    var candidate = TABLE[slot(bytes, start, length)];
    return candidate != null && is(candidate, bytes, start, length) ? candidate : null;
  }

  /**
   * The common name equal to this one; null if there is none, or if the name is not in lower case.
   */
  static @Nullable AsciiString ofLowerCase(AsciiString name) {
    var known = of(name.array(), name.arrayOffset(), name.length());
    return known != null && known == LOWER_CASE[slot(known.array(), known.arrayOffset(),
        known.length())] ? known : null;
  }

  /** The name in lower case, as HTTP/2 requires. */
  static AsciiString lowerCase(CharSequence name) {
    var text = AsciiString.of(name);
    if (text.isEmpty()) {
      return text;
    }
    int slot = slot(text.array(), text.arrayOffset(), text.length());
    var candidate = TABLE[slot];
    var lowerCase = LOWER_CASE[slot];
    return candidate != null && lowerCase != null
        && is(candidate, text.array(), text.arrayOffset(), text.length())
            ? lowerCase
            : text.toLowerCase();
  }

  private static boolean is(AsciiString candidate, byte[] bytes, int start, int length) {
    int from = candidate.arrayOffset();
    return Arrays.equals(candidate.array(), from, from + candidate.length(), bytes, start,
        start + length);
  }

  static List<String> all() {
    return NAMES;
  }
}
