package dev.activator.standalone.policy;

import dev.activator.config.NamespaceHostRules;
import dev.activator.http.HeaderFieldList;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The routing table of ScaledServices: it finds the revision of a request by its host, and then by
 * the most specific rule for that host.
 *
 * <p>A host is looked up in this order:
 * <ol>
 * <li>the exact hosts in ScaledServices;
 * <li>internal names ({@code name.namespace}, {@code name.namespace.svc},
 * {@code name.namespace.svc.domain}), where {@code name} is a ScaledService, or a Service whose
 * requests are caught;
 * <li>wildcard hosts, the longest first.
 * </ol>
 *
 * <p>A host belongs, with all its paths, to the namespace of the oldest ScaledService that claims
 * it. Other namespaces therefore cannot take over some of its paths.
 *
 * <p><b>Source.</b> {@code HTTPRouteRule.matches} of the Gateway API.
 */
public final class ScaledServiceRouteTable {
  private static final String WILDCARD = "*.";
  /** The maximum length of a DNS name. A request could contain a much longer host. */
  private static final int MAX_HOST_LENGTH = 253;

  private final String domain;
  private final Map<String, Routes> exact = new HashMap<>();
  /** The routes of wildcards, by the part after the star, which begins with a dot. */
  private final Map<String, Routes> wildcards = new HashMap<>();
  /**
   * The routes of requests to the internal name of a ScaledService. Here rules choose only the
   * port.
   */
  private final Map<RevisionId, Routes> services = new HashMap<>();
  /** The ScaledServices whose requests are caught, by their Service. */
  private final Map<RevisionId, RevisionId> caught = new HashMap<>();
  /**
   * The same ScaledServices by the name of the Service alone, if only one namespace has such a
   * Service.
   */
  private final Map<String, RevisionId> shortNames = new HashMap<>();
  private final Map<RevisionId, List<Taken>> taken = new HashMap<>();

  /**
   * A host or rule of a ScaledService that is not applied, because another object has it, or it is
   * not allowed.
   *
   * @param condition the condition of the rule; empty if it is about all requests for the host
   * @param by the older ScaledService that has the host or rule; null if the namespace may not
   *     claim the host
   */
  public record Taken(String host, String condition, @Nullable RevisionId by) {
    public Taken(String host, @Nullable RevisionId by) {
      this(host, "", by);
    }
  }

  /** The routes of one host. */
  private static final class Routes {
    private final RevisionId oldest;
    private final Map<String, RevisionId> conditions = new HashMap<>();
    private final List<Route> routes = new ArrayList<>();
    /** The target of all requests; null if they have different targets. */
    private @Nullable RevisionId all;

    Routes(RevisionId oldest) {
      this.oldest = oldest;
    }

    void add(ScaledServiceRoute rule, ScaledService service) {
      routes.add(new Route(rule, service.revision(rule)));
    }

    /**
     * Sorts the routes by how specific they are. The sort is stable, so of equally specific ones
     * that of the older object comes first, and then the first one in the object.
     */
    void sort() {
      routes.sort((one, other) -> ScaledServiceRoute.BY_SPECIFICITY.compare(one.rule, other.rule));
      all = !routes.isEmpty() && routes.getFirst().rule.matchesAll()
          ? routes.getFirst().to
          : null;
    }

    @Nullable RevisionId find(String target, HeaderFieldList fields) {
      return all != null ? all : firstMatch(target, fields);
    }

    private @Nullable RevisionId firstMatch(String target, HeaderFieldList fields) {
      for (var route : routes) {
        if (route.rule.matches(target, fields::getAll)) {
          return route.to;
        }
      }
      return null;
    }
  }

  private record Route(ScaledServiceRoute rule, RevisionId to) {}

  private ScaledServiceRouteTable(String domain) {
    this.domain = domain;
  }

  /**
   * The table of all ScaledServices. If two have the same host or rule, it belongs to the older
   * one. An internal name always belongs to the object with that name.
   */
  public static ScaledServiceRouteTable of(Collection<ScaledService> objects, String domain,
      NamespaceHostRules domains) {
    var table = new ScaledServiceRouteTable(domain);
    var all = objects.stream().filter(one -> one.tcp().besideHttp()).toList();
    all.forEach(one -> table.services.put(one.id(), new Routes(one.id())));
    table.addServices(all.stream().filter(ScaledService::catchService)
        .sorted(ScaledService.byAge()).toList());
    all.stream().sorted(ScaledService.byAge()).forEach(service -> table.add(service, domains));
    table.exact.values().forEach(Routes::sort);
    table.wildcards.values().forEach(Routes::sort);
    table.services.values().forEach(Routes::sort);
    return table;
  }

  /**
   * Adds the names of Services whose requests are caught. Callers in the same namespace may use the
   * name without the namespace. That is unambiguous if only one namespace has such a Service,
   * because only requests to caught Services arrive here.
   */
  private void addServices(List<ScaledService> byAge) {
    var several = new HashSet<String>();
    for (var one : byAge) {
      caught.putIfAbsent(new RevisionId(one.id().namespace(), one.service()), one.id());
      var oldest = shortNames.putIfAbsent(one.service(), one.id());
      if (oldest != null && !oldest.namespace().equals(one.id().namespace())) {
        several.add(one.service());
      }
    }
    shortNames.keySet().removeAll(several);
  }

  private void add(ScaledService service, NamespaceHostRules domains) {
    var rules = service.routes().isEmpty() && service.routeProblems().isEmpty()
        ? List.of(ScaledServiceRoute.ALL)
        : service.routes();
    var byHost = new TreeMap<String, List<ScaledServiceRoute>>();
    for (var rule : rules) {
      var hosts = rule.hosts().isEmpty() ? service.hosts() : rule.hosts();
      if (rule.hosts().isEmpty()) {
        service(service.id()).add(rule, service);
      }
      for (var host : new HashSet<>(hosts)) {
        byHost.computeIfAbsent(host, _ -> new ArrayList<>()).add(rule);
      }
    }
    byHost.forEach((host, wanted) -> {
      if (domains.allow(service.id().namespace(), host)) {
        add(host, wanted, service);
      } else {
        taken(service, new Taken(host, null));
      }
    });
  }

  private void add(String host, List<ScaledServiceRoute> rules, ScaledService service) {
    boolean isWildcard = host.startsWith(WILDCARD);
    var owner = isWildcard ? null : named(host);
    if (owner != null) {
      if (owner.equals(service.id())) {
        rules.stream().filter(rule -> !rule.hosts().isEmpty())
            .forEach(rule -> service(owner).add(rule, service));
      } else {
        taken(service, new Taken(host, owner));
      }
      return;
    }
    var routes = isWildcard
        ? wildcards.computeIfAbsent(host.substring(1), _ -> new Routes(service.id()))
        : exact.computeIfAbsent(host, _ -> new Routes(service.id()));
    if (!routes.oldest.namespace().equals(service.id().namespace())) {
      taken(service, new Taken(host, routes.oldest));
      return;
    }
    var lost = new LinkedHashSet<Taken>();
    for (var rule : rules) {
      var by = routes.conditions.putIfAbsent(rule.condition(), service.id());
      if (by == null) {
        routes.add(rule, service);
      } else if (!by.equals(service.id())) {
        lost.add(new Taken(host, rule.condition(), by));
      }
    }
    lost.forEach(one -> taken(service, one));
  }

  private Routes service(RevisionId id) {
    var routes = services.get(id);
    if (routes == null) {
      throw new IllegalStateException("no routes of " + id);
    }
    return routes;
  }

  private void taken(ScaledService from, Taken what) {
    taken.computeIfAbsent(from.id(), _ -> new ArrayList<>()).add(what);
  }

  public List<Taken> taken(RevisionId service) {
    return taken.getOrDefault(service, List.of());
  }

  /**
   * The revision of a request; null if there is none.
   *
   * @param host a host in any letter case, which may have a port and a trailing dot
   * @param target the path and query
   */
  public @Nullable RevisionId find(String host, String target, HeaderFieldList fields) {
    var name = normal(host);
    var routes = exact.get(name);
    var found = routes == null ? null : routes.find(target, fields);
    if (found != null) {
      return found;
    }
    var own = named(name);
    if (own != null) {
      // Internal names come before wildcards, since a wildcard such as *.svc would match the names
      // of others.
      var port = service(own).find(target, fields);
      return port == null ? own : port;
    }
    for (int dot = name.indexOf('.'); found == null && dot >= 0; dot = name.indexOf('.', dot + 1)) {
      routes = wildcards.get(name.substring(dot));
      found = routes == null ? null : routes.find(target, fields);
    }
    return found;
  }

  /** Whether a ScaledService gets at least some requests for the host. */
  public boolean has(String host) {
    var name = normal(host);
    if (exact.containsKey(name) || named(name) != null) {
      return true;
    }
    for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      if (wildcards.containsKey(name.substring(dot))) {
        return true;
      }
    }
    return false;
  }

  /**
   * The ScaledService with this internal name, which is its own name or that of its Service; null
   * if there is none.
   */
  private @Nullable RevisionId named(String host) {
    return host.indexOf('.') < 0 ? shortNames.get(host) : internal(host);
  }

  private @Nullable RevisionId internal(String host) {
    var parts = host.split("\\.", 4);
    boolean fits = switch (parts.length) {
      case 2 -> true;
      case 3 -> parts[2].equals("svc");
      case 4 -> parts[2].equals("svc") && parts[3].equals(domain);
      default -> false;
    };
    if (!fits || parts[0].isEmpty() || parts[1].isEmpty()) {
      return null;
    }
    var id = new RevisionId(parts[1], parts[0]);
    return services.containsKey(id) ? id : caught.get(id);
  }

  /**
   * The host in lower case, without port and trailing dot; empty if it is longer than a DNS name.
   */
  private static String normal(String host) {
    int end = host.endsWith("]") ? -1 : host.lastIndexOf(':');
    int port = end < 0 ? host.length() : end;
    int length = port > 0 && host.charAt(port - 1) == '.' ? port - 1 : port;
    return length > MAX_HOST_LENGTH ? "" : host.substring(0, length).toLowerCase(Locale.ROOT);
  }
}
