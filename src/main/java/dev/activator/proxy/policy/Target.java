package dev.activator.proxy.policy;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The target of a request line.
 *
 * <p>
 * <b>Source.</b> RFC 9112, section 3.2: a proxy's origin form, absolute form and asterisk form.
 * CONNECT is refused, as this is no forward proxy.
 *
 * @param host the host in the target, which overrides the {@code Host} header; null if none
 * @param path path and query, byte for byte
 */
public record Target(@Nullable String host, String path) {

  /** Null if it is malformed. */
  public static @Nullable Target parse(String method, String text) {
    if (method.equals("CONNECT") || !isPrintable(text)) {
      return null;
    }
    if (text.startsWith("/") || (text.equals("*") && method.equals("OPTIONS"))) {
      return new Target(null, text);
    }
    return absolute(text);
  }

  private static @Nullable Target absolute(String text) {
    int colon = text.indexOf("://");
    if (colon < 0) {
      return null;
    }
    String scheme = text.substring(0, colon).toLowerCase(Locale.ROOT);
    int from = colon + 3;
    int to = endOfAuthority(text, from);
    String host = text.substring(from, to);
    if ((!scheme.equals("http") && !scheme.equals("https")) || host.isEmpty()
        || !Framing.isHost(host)) {
      return null;
    }
    String path = text.substring(to);
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
}
