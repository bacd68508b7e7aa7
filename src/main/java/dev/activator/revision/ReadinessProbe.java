package dev.activator.revision;

import java.util.Map;
import java.util.regex.Pattern;

/**
 * How a container says that it takes requests, where there is no queue-proxy to ask.
 *
 * @param path it is asked for with GET, where 200 to 399 means ready; empty where a connection is
 *     enough
 * @param headers of that request
 */
public record ReadinessProbe(String path, Map<String, String> headers) {
  /** A container that takes a connection is ready. */
  public static final ReadinessProbe CONNECT = new ReadinessProbe("", Map.of());

  private static final Pattern TOKEN = Pattern.compile("[\\w!#$%&'*+.^`|~-]+");

  public ReadinessProbe {
    headers = Map.copyOf(headers);
  }

  /** Whether a connection is enough. */
  public boolean connects() {
    return path.isEmpty();
  }

  /** Whether this can be asked for as it is. */
  public static boolean isPath(String text) {
    return text.startsWith("/") && text.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '#');
  }

  /** Whether this can be sent as a header. */
  public static boolean isHeader(String name, String value) {
    return TOKEN.matcher(name).matches() && value.chars().allMatch(c -> c >= ' ' && c < 0x7f);
  }
}
