package dev.activator.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Rules that limit the hosts that the ScaledServices of a namespace may claim.
 *
 * @param byNamespace the hosts, and wildcards such as {@code *.shop.example.com}, that a namespace
 *     may claim. The entry {@code *} applies to namespaces without an entry. If the map is empty,
 *     each namespace may claim any host
 */
public record NamespaceHostRules(Map<String, List<String>> byNamespace) {
  public static final NamespaceHostRules ANY = new NamespaceHostRules(Map.of());
  private static final String ALL = "*";
  private static final String WILDCARD = "*.";
  private static final Pattern NAMESPACE = Pattern.compile("[*]|[a-z0-9](?:[-a-z0-9]*[a-z0-9])?");
  private static final Pattern HOST = Pattern
      .compile(
          "[*]|(?:[*][.])?[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:[.][a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*");

  public NamespaceHostRules {
    byNamespace = Map.copyOf(byNamespace);
  }

  /**
   * Parses rules such as {@code shop=*.shop.example.com shop.example.com, blog=blog.example.com}.
   *
   * @throws IllegalArgumentException if the text is invalid; the message is a clause that can
   *     follow "but"
   */
  public static NamespaceHostRules parse(String text) {
    var all = new HashMap<String, List<String>>();
    for (var entry : text.split(",", -1)) {
      if (entry.isBlank()) {
        continue;
      }
      int equals = entry.indexOf('=');
      var namespace = equals < 0 ? "" : entry.substring(0, equals).strip();
      if (!NAMESPACE.matcher(namespace).matches()) {
        throw new IllegalArgumentException("'" + entry.strip() + "' is not a namespace (or *), '='"
            + " and its hosts");
      }
      var hosts = new ArrayList<String>();
      for (var host : entry.substring(equals + 1).strip().split("\\s+")) {
        if (!HOST.matcher(host).matches()) {
          throw new IllegalArgumentException("'" + host + "' of " + namespace
              + " is neither a host in lower case nor a wildcard such as *.example.com");
        }
        hosts.add(host);
      }
      if (all.put(namespace, List.copyOf(hosts)) != null) {
        throw new IllegalArgumentException("there are two entries for " + namespace);
      }
    }
    return new NamespaceHostRules(all);
  }

  /** @param host the host of a ScaledService, which may be a wildcard */
  public boolean allow(String namespace, String host) {
    if (byNamespace.isEmpty()) {
      return true;
    }
    return byNamespace.getOrDefault(namespace, byNamespace.getOrDefault(ALL, List.of())).stream()
        .anyMatch(each -> each.equals(ALL) || each.equals(host)
            || each.startsWith(WILDCARD) && host.length() >= each.length()
                && host.endsWith(each.substring(1)));
  }
}
