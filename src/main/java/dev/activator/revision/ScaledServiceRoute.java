package dev.activator.revision;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A route of a ScaledService: which requests go to it, and to which port of its Service.
 *
 * <p><b>Source.</b> {@code HTTPRouteMatch} of the Gateway API, without regular expressions.
 *
 * @param hosts in lower case, may begin with {@code *.}; empty for those of the ScaledService
 * @param path without the query; null for any
 * @param headers all of them must match
 * @param port by name or number; empty for the ScaledService's
 */
public record ScaledServiceRoute(List<String> hosts, @Nullable Path path,
    List<DoNotWakeRule.Header> headers,
    String port) {
  /** Begins with the rule that decides if several match. */
  public static final Comparator<ScaledServiceRoute> BY_SPECIFICITY = Comparator
      .comparing((ScaledServiceRoute rule) -> rule.path != null && !rule.path.prefix)
      .thenComparing(rule -> rule.path == null ? 0 : rule.path.text.length())
      .thenComparing(rule -> rule.headers.size()).reversed();

  /** Gets every request. */
  public static final ScaledServiceRoute ALL = new ScaledServiceRoute(List.of(), null, List.of(),
      "");

  public ScaledServiceRoute {
    hosts = List.copyOf(hosts);
    headers = List.copyOf(headers);
    path = path != null && path.prefix && path.text.isEmpty() ? null : path;
  }

  /**
   * @param prefix whether the text is the first elements of the path; then without a slash at its end
   */
  public record Path(String text, boolean prefix) {
    public Path {
      text = prefix && text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
    }

    /** @param target may have a query, which the text never has */
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
   * @param target path and query, as the caller sent them
   * @param values of a header, by its name in any case
   */
  public boolean matches(String target, Function<String, List<String>> values) {
    return (path == null || path.matches(target)) && headers.stream().allMatch(
        header -> values.apply(header.name()).stream().anyMatch(header.value()::matches));
  }

  /** Whether it gets every request for its hosts. */
  public boolean matchesAll() {
    return path == null && headers.isEmpty();
  }

  /** The same for two rules that match the same requests; empty if it gets every request. */
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
