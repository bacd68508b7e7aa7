package dev.activator.cluster.policy;

import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which ScaledService a host names: one of its hosts, else the longest wildcard, else {@code
 * name.namespace}, {@code name.namespace.svc} or {@code name.namespace.svc.domain}.
 */
public final class HostTable {
  private static final String WILDCARD = "*.";

  private final String domain;
  private final Map<String, RevisionId> exact = new HashMap<>();
  /** By what follows the star, from its dot on. */
  private final Map<String, RevisionId> wildcards = new HashMap<>();
  private final Set<RevisionId> services;
  private final Map<RevisionId, List<Taken>> taken = new HashMap<>();

  /**
   * A host that a ScaledService names and does not get.
   *
   * @param by the older ScaledService that has it; null if its namespace may not claim it
   */
  public record Taken(String host, @Nullable RevisionId by) {}

  private HostTable(String domain, Set<RevisionId> services) {
    this.domain = domain;
    this.services = services;
  }

  /** A host that two ScaledServices want is the older one's; none has the name of another. */
  public static HostTable of(Collection<ScaledService> all, String domain, DomainRules rules) {
    var table = new HostTable(domain,
        all.stream().map(ScaledService::id).collect(Collectors.toUnmodifiableSet()));
    all.stream().sorted(ScaledService.BY_AGE).forEach(service -> table.add(service, rules));
    return table;
  }

  private void add(ScaledService service, DomainRules rules) {
    for (var host : new TreeSet<>(service.hosts())) {
      if (!rules.allow(service.id().namespace(), host)) {
        refuse(service.id(), new Taken(host, null));
        continue;
      }
      boolean isWildcard = host.startsWith(WILDCARD);
      var owner = isWildcard ? null : internal(host);
      var had = isWildcard
          ? wildcards.putIfAbsent(host.substring(1), service.id())
          : owner == null ? exact.putIfAbsent(host, service.id()) : owner;
      if (had != null && !had.equals(service.id())) {
        refuse(service.id(), new Taken(host, had));
      }
    }
  }

  private void refuse(RevisionId service, Taken host) {
    taken.computeIfAbsent(service, _ -> new ArrayList<>()).add(host);
  }

  public List<Taken> taken(RevisionId service) {
    return taken.getOrDefault(service, List.of());
  }

  /** @param host of a request: in any case, perhaps with a port or a trailing dot */
  public @Nullable RevisionId find(String host) {
    var name = normal(host);
    var found = exact.get(name);
    for (int dot = name.indexOf('.'); found == null && dot >= 0; dot = name.indexOf('.', dot + 1)) {
      found = wildcards.get(name.substring(dot));
    }
    return found == null ? internal(name) : found;
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
    return services.contains(id) ? id : null;
  }

  private static String normal(String host) {
    int end = host.endsWith("]") ? -1 : host.lastIndexOf(':');
    var name = end < 0 ? host : host.substring(0, end);
    return (name.endsWith(".") ? name.substring(0, name.length() - 1) : name)
        .toLowerCase(Locale.ROOT);
  }
}
