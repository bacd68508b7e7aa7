package dev.activator.proxy.policy;

import java.util.Map;
import java.util.TreeMap;

/**
 * A response that is made here.
 *
 * @param headers except those that frame the body
 */
public record LocalResponse(int status, Map<String, String> headers, String body) {
  private static final Map<String, String> PLAIN = Map.of("Content-Type",
      "text/plain; charset=utf-8");
  private static final Map<String, String> PROBLEM = Map.of("Content-Type",
      "application/problem+json", "X-Content-Type-Options", "nosniff");
  private static final Map<String, String> ERROR = Map.of("Content-Type",
      "text/plain; charset=utf-8", "X-Content-Type-Options", "nosniff");

  public static LocalResponse empty(int status) {
    return new LocalResponse(status, Map.of(), "");
  }

  public static LocalResponse plain(int status, String body) {
    return new LocalResponse(status, PLAIN, body);
  }

  /** As Go's {@code http.Error}. */
  public static LocalResponse error(int status, String message) {
    return new LocalResponse(status, ERROR, message + "\n");
  }

  /** RFC 9457. */
  public static LocalResponse problem(int status, String title, String detail, String reason) {
    return new LocalResponse(status, PROBLEM, "{\"type\":\"about:blank\",\"title\":" + json(title)
        + ",\"status\":" + status + ",\"detail\":" + json(detail) + ",\"reason\":" + json(reason)
        + "}\n");
  }

  private static String json(String text) {
    var json = new StringBuilder("\"");
    for (char each : text.toCharArray()) {
      if (each == '"' || each == '\\') {
        json.append('\\').append(each);
      } else if (each < ' ') {
        json.append(String.format("\\u%04x", (int) each));
      } else {
        json.append(each);
      }
    }
    return json.append('"').toString();
  }

  public LocalResponse with(String name, String value) {
    var more = new TreeMap<>(headers);
    more.put(name, value);
    return new LocalResponse(status, Map.copyOf(more), body);
  }

}
