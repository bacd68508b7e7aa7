package dev.activator.revision;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The probe that the activator sends to a container without queue-proxy: a GET, or a TCP
 * connection, on which an answer may be expected.
 *
 * @param path the path of the GET, for which a status from 200 to 399 means ready; empty for a TCP
 *     connection
 * @param headers the values of each name, in order
 * @param timeout of one probe, from the connection to the end of the answer
 * @param answer what must be answered on a TCP connection; null if it need only be accepted
 */
public record ReadinessProbeSpec(String path, Map<String, List<String>> headers, Duration timeout,
    @Nullable ExpectedAnswer answer) {
  /** Kubernetes' default. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(1);
  public static final ReadinessProbeSpec CONNECT = new ReadinessProbeSpec("", Map.of());

  private static final Pattern TOKEN = Pattern.compile("[\\w!#$%&'*+.^`|~-]+");

  /**
   * How a server that is ready answers a connection. Each character is one byte.
   *
   * @param send empty if the server speaks first
   * @param expect how the answer begins
   */
  public record ExpectedAnswer(String send, String expect) {}

  public ReadinessProbeSpec {
    headers = Map.copyOf(headers);
  }

  public ReadinessProbeSpec(String path, Map<String, List<String>> headers, Duration timeout) {
    this(path, headers, timeout, null);
  }

  /** A probe with Kubernetes' default timeout. */
  public ReadinessProbeSpec(String path, Map<String, List<String>> headers) {
    this(path, headers, DEFAULT_TIMEOUT);
  }

  public static ReadinessProbeSpec answering(ExpectedAnswer answer) {
    return new ReadinessProbeSpec("", Map.of(), DEFAULT_TIMEOUT, answer);
  }

  /** A probe by GET. Invalid parts are left out and named in {@code remarks}. */
  public static ReadinessProbeSpec httpGet(String path, Map<String, List<String>> headers,
      List<String> remarks) {
    var rooted = rooted(path);
    if (!isPath(rooted)) {
      remarks.add("the path of its readinessProbe, '" + path + "'");
      return CONNECT;
    }
    var sent = new TreeMap<>(headers);
    sent.entrySet().removeIf(header -> {
      boolean bad = !header.getValue().stream().allMatch(value -> isHeader(header.getKey(), value));
      if (bad) {
        remarks.add("the header '" + header.getKey() + "' of its readinessProbe");
      }
      return bad;
    });
    return new ReadinessProbeSpec(rooted, sent);
  }

  public ReadinessProbeSpec within(Duration other) {
    return other.equals(timeout) ? this : new ReadinessProbeSpec(path, headers, other, answer);
  }

  public boolean connects() {
    return path.isEmpty();
  }

  /**
   * The fields as the kubelet sends them, by which many programs know its requests; without
   * {@code Host} unless the probe has it.
   *
   * <p><b>Source.</b> {@code NewProbeRequest} in the kubelet's {@code pkg/probe/http}.
   */
  public static Map<String, List<String>> sent(Map<String, List<String>> headers) {
    var all = new TreeMap<String, List<String>>(String.CASE_INSENSITIVE_ORDER);
    new TreeMap<>(headers).forEach((name, values) -> all.merge(name, values,
        (first, then) -> Stream.concat(first.stream(), then.stream()).toList()));
    all.putIfAbsent("User-Agent", List.of("kube-probe/1.34"));
    all.putIfAbsent("Accept", List.of("*/*"));
    all.put("Connection", List.of("close"));
    all.computeIfPresent("Accept", (_, values) -> values.getFirst().isEmpty() ? null : values);
    return all;
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
