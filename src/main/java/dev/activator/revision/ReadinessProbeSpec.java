package dev.activator.revision;

import java.time.Duration;
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
 * @param timeout of one probe, from the connection to the end of the answer
 */
public record ReadinessProbeSpec(String path, Map<String, String> headers, Duration timeout) {
  /** Kubernetes' default. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(1);
  public static final ReadinessProbeSpec CONNECT = new ReadinessProbeSpec("", Map.of());

  private static final Pattern TOKEN = Pattern.compile("[\\w!#$%&'*+.^`|~-]+");

  public ReadinessProbeSpec {
    headers = Map.copyOf(headers);
  }

  /** A probe with Kubernetes' default timeout. */
  public ReadinessProbeSpec(String path, Map<String, String> headers) {
    this(path, headers, DEFAULT_TIMEOUT);
  }

  /** A probe by GET. Invalid parts are left out and named in {@code remarks}. */
  public static ReadinessProbeSpec httpGet(String path, Map<String, String> headers,
      List<String> remarks) {
    var rooted = rooted(path);
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

  public ReadinessProbeSpec within(Duration other) {
    return other.equals(timeout) ? this : new ReadinessProbeSpec(path, headers, other);
  }

  public boolean connects() {
    return path.isEmpty();
  }

  /** The path as the kubelet sends it. */
  public static String rooted(String path) {
    return path.startsWith("/") ? path : "/" + path;
  }

  public static boolean isPath(String text) {
    return text.startsWith("/") && text.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '#');
  }

  private static boolean isHeader(String name, String value) {
    return TOKEN.matcher(name).matches() && value.chars().allMatch(c -> c >= ' ' && c < 0x7f);
  }
}
