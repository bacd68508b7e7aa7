package dev.activator.proxy.policy;

import dev.activator.revision.RevisionId;
import org.jspecify.annotations.Nullable;

/**
 * The revision a request is meant for, as the request says it.
 *
 * <p>
 * <b>Source.</b> {@code contextHandler} in Knative's {@code context_handler.go}.
 *
 * @param namespace may be empty: then there is none
 * @param name as well
 */
public record RevisionName(String namespace, String name) {

  /**
   * By the two headers; where one is missing, by a host such as {@code
   * name.namespace.svc.cluster.local}, or by the rule for other hosts.
   */
  public static RevisionName of(Fields fields, String host, String clusterDomain, HostRule rule) {
    String name = fields.text(Field.REVISION);
    String namespace = fields.text(Field.REVISION_NAMESPACE);
    if (!name.isEmpty() && !namespace.isEmpty()) {
      return new RevisionName(namespace, name);
    }
    var byService = ofService(host, clusterDomain);
    if (byService != null) {
      return byService;
    }
    var other = rule.revision(host);
    return other == null
        ? new RevisionName(namespace, name)
        : new RevisionName(other.namespace(), other.name());
  }

  /** Null if no revision can have that name. */
  public @Nullable RevisionId id() {
    return namespace.isEmpty() || name.isEmpty() ? null : new RevisionId(namespace, name);
  }

  private static @Nullable RevisionName ofService(String host, String clusterDomain) {
    String[] parts = host.split("\\.", 4);
    if (parts.length < 4 || !parts[2].equals("svc")) {
      return null;
    }
    int colon = parts[3].indexOf(':');
    String domain = colon < 0 ? parts[3] : parts[3].substring(0, colon);
    return domain.equals(clusterDomain) ? new RevisionName(parts[1], parts[0]) : null;
  }
}
