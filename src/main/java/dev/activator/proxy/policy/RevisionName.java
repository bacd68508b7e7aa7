package dev.activator.proxy.policy;

import dev.activator.revision.RevisionId;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which revision a request names.
 *
 * <p><b>Source.</b> {@code contextHandler} in Knative's {@code context_handler.go}.
 */
public final class RevisionName {
  private RevisionName() {}

  /**
   * By the two headers, else by a host such as {@code name.namespace.svc.cluster.local}, else by
   * the rule; null if none.
   */
  public static @Nullable RevisionId of(Fields fields, String host, String clusterDomain,
      HostRule rule) {
    var byHeaders = id(fields.text(Field.REVISION_NAMESPACE), fields.text(Field.REVISION));
    if (byHeaders != null) {
      return byHeaders;
    }
    String[] parts = host.split("\\.", 4);
    return parts.length == 4 && parts[2].equals("svc") && isDomain(parts[3], clusterDomain)
        ? id(parts[1], parts[0])
        : rule.revision(host);
  }

  private static boolean isDomain(String withPort, String clusterDomain) {
    int colon = withPort.indexOf(':');
    return (colon < 0 ? withPort : withPort.substring(0, colon)).equals(clusterDomain);
  }

  private static @Nullable RevisionId id(String namespace, String name) {
    return namespace.isEmpty() || name.isEmpty() ? null : new RevisionId(namespace, name);
  }
}
