package dev.activator.revision;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The rules for requests that arrive while no pod of their revision has room: which of them must
 * not start a pod, and which response or other service they get instead.
 *
 * @param doNotWake the first rule that matches a request applies
 * @param fallback null if requests wait until their revision has started
 * @param ignoreIdleAfter an upgraded connection that has carried no byte for this long is not
 *     counted for the autoscaler; null if it is always counted
 * @param problems one sentence for each setting that is invalid and therefore ignored
 */
public record ColdStartRules(List<DoNotWakeRule> doNotWake, @Nullable ColdStartFallback fallback,
    @Nullable Duration ignoreIdleAfter, List<String> problems) {
  public ColdStartRules {
    doNotWake = List.copyOf(doNotWake);
    problems = List.copyOf(problems);
  }

  /** The fields of a ScaledService that they are from. */
  public List<String> fields() {
    return Stream.of(doNotWake.isEmpty() ? "" : "doNotWake", fallback == null ? "" : "fallback",
        ignoreIdleAfter == null ? "" : "idleConnections")
        .filter(field -> !field.isEmpty()).toList();
  }

  /**
   * The service or response that a request gets instead of waiting until its revision has started.
   * The start continues.
   *
   * @param after how long the request is queued before that; zero for not at all
   * @param service a revision, Knative Service or ScaledService of the same namespace; null if there
   *     is an {@code answer}
   * @param answer the response; null if there is a {@code service}
   */
  public record ColdStartFallback(Duration after, @Nullable String service,
      @Nullable ConfiguredResponse answer) {
    @Override
    public String toString() {
      return (service == null
          ? "answers " + (answer == null ? "" : answer.status())
          : "goes to " + service)
          + (after.isZero() ? " at once" : " after " + after.toMillis() / 1e3 + " s");
    }
  }

  /**
   * A response that a user has configured. The activator sends it itself, without a pod.
   *
   * @param headers all headers but those that frame the body
   */
  public record ConfiguredResponse(int status, Map<String, String> headers, String body) {
    public ConfiguredResponse {
      headers = Map.copyOf(headers);
    }

    /** A response 200 without a body. */
    public static ConfiguredResponse ok() {
      return new ConfiguredResponse(200, Map.of("Content-Type", "text/plain; charset=utf-8"), "");
    }
  }

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
}
