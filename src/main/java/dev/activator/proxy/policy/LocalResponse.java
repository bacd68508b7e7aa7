package dev.activator.proxy.policy;

import dev.activator.revision.ColdStartRules.ConfiguredResponse;
import java.util.Map;
import java.util.TreeMap;

/**
 * A response that the activator makes itself.
 *
 * @param headers without those that frame the body
 */
public record LocalResponse(int status, Map<String, String> headers, String body) {
  private static final Map<String, String> PLAIN = Map.of("Content-Type",
      "text/plain; charset=utf-8");
  private static final Map<String, String> ERROR = Map.of("Content-Type",
      "text/plain; charset=utf-8", "X-Content-Type-Options", "nosniff");

  public static LocalResponse empty(int status) {
    return new LocalResponse(status, Map.of(), "");
  }

  public static LocalResponse plain(int status, String body) {
    return new LocalResponse(status, PLAIN, body);
  }

  public static LocalResponse of(ConfiguredResponse written) {
    return new LocalResponse(written.status(), written.headers(), written.body());
  }

  /** An error as Go's {@code http.Error} sends it. */
  public static LocalResponse error(int status, String message) {
    return new LocalResponse(status, ERROR, message + "\n");
  }

  public LocalResponse with(String name, String value) {
    var more = new TreeMap<>(headers);
    more.put(name, value);
    return new LocalResponse(status, Map.copyOf(more), body);
  }

  /**
   * Whether the response has a Content-Length. A 304 has none, because it would have to be that of
   * the 200; RFC 9110, section 8.6.
   */
  public boolean hasLength() {
    return status != 204 && status != 304;
  }

  /** Adds Retry-After to a 503 that has none. */
  public LocalResponse withRetryAfter(int seconds) {
    return status != 503 || headers.keySet().stream().anyMatch("Retry-After"::equalsIgnoreCase)
        ? this
        : with("Retry-After", Integer.toString(seconds));
  }

  /** The same response with another body and its headers. */
  LocalResponse as(Map<String, String> form, String text) {
    var all = new TreeMap<>(headers);
    all.putAll(form);
    return new LocalResponse(status, Map.copyOf(all), text);
  }
}
