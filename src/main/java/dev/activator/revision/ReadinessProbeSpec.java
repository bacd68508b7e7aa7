package dev.activator.revision;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The probe that the activator sends to a container without queue-proxy: a GET, or a TCP
 * connection.
 *
 * @param path the path of the GET, for which a status from 200 to 399 means ready; empty for a TCP
 *     connection
 */
public record ReadinessProbeSpec(String path, Map<String, String> headers) {
  public static final ReadinessProbeSpec CONNECT = new ReadinessProbeSpec("", Map.of());

  private static final Pattern TOKEN = Pattern.compile("[\\w!#$%&'*+.^`|~-]+");

  public ReadinessProbeSpec {
    headers = Map.copyOf(headers);
  }

  /** A probe by GET. Invalid parts are left out and named in {@code remarks}. */
  public static ReadinessProbeSpec httpGet(String path, Map<String, String> headers,
      List<String> remarks) {
    var rooted = path.startsWith("/") ? path : "/" + path;
    if (!isPath(rooted)) {
      remarks.add("the path of its readinessProbe, '" + path + "'");
      return CONNECT;
    }
    var sent = new TreeMap<>(headers);
    sent.entrySet().removeIf(header -> {
      boolean bad = !isHeader(header.getKey(), header.getValue());
      if (bad) {
        remarks.add("the header '" + header.getKey() + "' of its readinessProbe");
      }
      return bad;
    });
    return new ReadinessProbeSpec(rooted, sent);
  }

  public boolean connects() {
    return path.isEmpty();
  }

  public static boolean isPath(String text) {
    return text.startsWith("/") && text.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '#');
  }

  private static boolean isHeader(String name, String value) {
    return TOKEN.matcher(name).matches() && value.chars().allMatch(c -> c >= ' ' && c < 0x7f);
  }
}
