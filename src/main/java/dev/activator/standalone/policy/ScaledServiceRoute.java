package dev.activator.standalone.policy;

import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A route of a ScaledService: it selects requests, and the port of the Service that they are sent
 * to.
 *
 * <p><b>Source.</b> {@code HTTPRouteMatch} of the Gateway API, without regular expressions.
 *
 * @param hosts host names in lower case, which may begin with {@code *.}; empty for the hosts of
 *     the ScaledService
 * @param path the path without the query; null for any path
 * @param headers all of them must match
 * @param port the name or number of a port; empty for the port of the ScaledService
 */
public record ScaledServiceRoute(List<String> hosts, @Nullable Path path,
    List<DoNotWakeRule.Header> headers,
    String port) {
  /** Sorts the most specific route first, which applies if several match. */
  public static final Comparator<ScaledServiceRoute> BY_SPECIFICITY = Comparator
      .comparing((ScaledServiceRoute rule) -> rule.path != null && !rule.path.prefix)
      .thenComparing(rule -> rule.path == null ? 0 : rule.path.text.length())
      .thenComparing(rule -> rule.headers.size()).reversed();

  /** The route that matches every request. */
  public static final ScaledServiceRoute ALL = new ScaledServiceRoute(List.of(), null, List.of(),
      "");

  public ScaledServiceRoute {
    hosts = List.copyOf(hosts);
    headers = List.copyOf(headers);
    path = path != null && path.prefix && path.text.isEmpty() ? null : path;
  }

  /**
   * @param prefix whether the text is a prefix of whole path elements; it then has no slash at its
   *     end
   */
  public record Path(String text, boolean prefix) {
    public Path {
      text = prefix && text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
    }

    /** @param target a path with or without a query */
    private boolean matches(String target) {
      int length = text.length();
      if (!target.startsWith(text)) {
        return false;
      }
      char next = length == target.length() ? '?' : target.charAt(length);
      return next == '?' || prefix && next == '/';
    }

    @Override
    public String toString() {
      return prefix ? "path prefix " + text : "path " + text;
    }
  }

  /**
   * Whether a request for one of the hosts is selected.
   *
   * @param target the path and query as the caller sent them
   * @param values returns the values of a header, whose name may be in any case
   */
  public boolean matches(String target, Function<String, List<String>> values) {
    return (path == null || path.matches(target)) && headers.stream().allMatch(
        header -> values.apply(header.name()).stream().anyMatch(header.value()::matches));
  }

  /** Whether this route matches every request for its hosts. */
  public boolean matchesAll() {
    return path == null && headers.isEmpty();
  }

  /**
   * The path and headers as text. Two routes that match the same requests have the same text; it is
   * empty if the route matches every request.
   */
  public String condition() {
    var parts = new ArrayList<String>();
    if (path != null) {
      parts.add(path.toString());
    }
    if (!headers.isEmpty()) {
      parts.add("header " + headers.stream()
          .map(ScaledServiceRoute::text)
          .collect(Collectors.toCollection(TreeSet::new)).stream()
          .collect(Collectors.joining(", ")));
    }
    return String.join(" and ", parts);
  }

  @Override
  public String toString() {
    var requests = condition().isEmpty() ? "all requests" : "requests with " + condition();
    return requests + (hosts.isEmpty() ? "" : " for " + String.join(", ", hosts));
  }

  private static String text(DoNotWakeRule.Header header) {
    var value = header.value();
    var how = !value.prefix() ? ": " : value.text().isEmpty() ? "" : " beginning with ";
    return header.name().toLowerCase(Locale.ROOT) + how + value.text();
  }
}
