package dev.activator.ext.actuators;

import java.util.List;
import java.util.regex.Pattern;
import okhttp3.HttpUrl;

/**
 * Parses URLs that are called, and the prefixes that they must have. They are compared in the form
 * in which they are sent, part by part.
 */
final class WakeUrl {
  private static final int MAX_LENGTH = 1_000;
  private static final Pattern FORM = Pattern
      .compile("https?://[^/?#\\\\]+(/[^?#\\\\]*)?([?][^#\\\\]*)?");
  private static final Pattern ALLOWED = Pattern.compile("[!-?A-~]+");
  /**
   * What servers may read as a step up, or as another division into parts. A percent sign without two
   * digits would be sent encoded.
   */
  private static final Pattern AMBIGUOUS = Pattern
      .compile("(?i)%(2e|2f|5c|25|00|(?![0-9a-f]{2}))|/[.]{1,2}(?=[;/?]|$)");

  private WakeUrl() {}

  /** @throws IllegalArgumentException a sentence that begins with {@code path} */
  static HttpUrl parse(String path, String text) {
    if (text.length() > MAX_LENGTH || !ALLOWED.matcher(text).matches()
        || !FORM.matcher(text).matches()) {
      throw new IllegalArgumentException(path + " must be an http or https URL of at most "
          + MAX_LENGTH + " characters in ASCII, without user, password and fragment");
    }
    int query = text.indexOf('?');
    if (AMBIGUOUS.matcher(query < 0 ? text : text.substring(0, query)).find()) {
      throw new IllegalArgumentException(path + " may have no . or .. as a part of its path, and no"
          + " encoded dot, slash, backslash or percent sign");
    }
    var url = HttpUrl.parse(text);
    if (url == null) {
      throw new IllegalArgumentException(path + " has no valid host or port");
    }
    return url;
  }

  /** @throws IllegalArgumentException a sentence that begins with {@code path} */
  static HttpUrl parsePrefix(String path, String text) {
    var url = parse(path, text);
    if (url.query() != null) {
      throw new IllegalArgumentException(path + " must have no query");
    }
    return url;
  }

  /** Whether a URL has the scheme, host and port of a prefix, and begins with the parts of its path. */
  static boolean begins(HttpUrl prefix, HttpUrl url) {
    var parts = parts(prefix);
    return url.scheme().equals(prefix.scheme()) && url.host().equals(prefix.host())
        && url.port() == prefix.port() && parts.size() <= url.pathSize()
        && url.encodedPathSegments().subList(0, parts.size()).equals(parts);
  }

  /** A slash at the end does not matter. */
  private static List<String> parts(HttpUrl prefix) {
    var parts = prefix.encodedPathSegments();
    return parts.getLast().isEmpty() ? parts.subList(0, parts.size() - 1) : parts;
  }
}
