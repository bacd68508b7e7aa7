package dev.activator.revision;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A rule that selects requests that must not start a pod. They are forwarded only while a pod has
 * room, are never queued, and are not counted for the autoscaler.
 *
 * @param path the path without the query; null for any path
 * @param method null for any method
 * @param headers all of them must match
 * @param answer the response if no pod has room
 * @param always whether the answer is also given while a pod has room
 */
public record DoNotWakeRule(@Nullable Text path, @Nullable String method, List<Header> headers,
    ConfiguredResponse answer, boolean always) {
  private static final String USER_AGENT = "User-Agent";

  public DoNotWakeRule {
    headers = List.copyOf(headers);
  }

  /** @param prefix whether a text matches if it begins with {@code text} */
  public record Text(String text, boolean prefix) {
    public boolean matches(String other) {
      return prefix ? other.startsWith(text) : other.equals(text);
    }

    @Override
    public String toString() {
      return prefix ? text + "*" : text;
    }
  }

  /** A condition on a header. If the header is repeated, one of its values must match. */
  public record Header(String name, Text value) {
    @Override
    public String toString() {
      return name + ": " + value;
    }
  }

  /**
   * A condition on the header {@code User-Agent}.
   *
   * @param prefix the beginning of its value
   */
  public static Header userAgent(String prefix) {
    return new Header(USER_AGENT, new Text(prefix, true));
  }

  /**
   * Whether a request meets all conditions of this rule.
   *
   * @param target the path and query
   * @param values returns the values of a header, whose name may be in any case
   */
  public boolean matches(String requestMethod, String target,
      Function<String, List<String>> values) {
    return (method == null || method.equals(requestMethod))
        && (path == null || path.matches(withoutQuery(target)))
        && headers.stream().allMatch(
            header -> values.apply(header.name).stream().anyMatch(header.value::matches));
  }

  private static String withoutQuery(String target) {
    int query = target.indexOf('?');
    return query < 0 ? target : target.substring(0, query);
  }

  /** The rules for well-known probes: those of load balancers, of kubelets, and of Prometheus. */
  public static List<DoNotWakeRule> knownProbes() {
    Set<String> agents = new TreeSet<>(
        Set.of("GoogleHC/", "ELB-HealthChecker/", "kube-probe/", "Prometheus/"));
    return agents.stream().map(agent -> new DoNotWakeRule(null, null, List.of(userAgent(agent)),
        ConfiguredResponse.ok(), false)).toList();
  }

  @Override
  public String toString() {
    var conditions = Stream.concat(
        Stream.of(method == null ? "" : method, path == null ? "" : path.toString())
            .filter(text -> !text.isEmpty()),
        headers.stream().map(Header::toString)).collect(Collectors.joining(" "));
    return conditions + " → " + answer.status() + (always ? ", always" : "");
  }
}
