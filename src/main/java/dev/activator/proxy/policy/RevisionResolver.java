package dev.activator.proxy.policy;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import dev.activator.revision.RevisionId;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the revision that a request names, by its headers or its host.
 *
 * <p><b>Threads.</b> Any; must not block.
 */
public sealed interface RevisionResolver {
  /**
   * Finds the revision of a request without revision headers by its host, path and header fields.
   *
   * <p><b>Threads.</b> Any; must not block.
   */
  @FunctionalInterface
  interface HostRouter {
    HostRouter NONE = (_, _, _) -> null;

    /**
     * The revision of a request; null if there is none.
     *
     * @param host may carry a port
     * @param target path and query
     */
    @Nullable RevisionId revision(String host, String target, HeaderFieldList fields);

    /** Whether some requests for the host have a revision. */
    default boolean isKnown(String host) {
      return false;
    }
  }

  /**
   * The revision that a request names; null if it names none.
   *
   * @param target path and query
   */
  @Nullable RevisionId of(HeaderFieldList fields, String host, String target);

  /** The failure of a request that names no revision, or one that does not exist. */
  RequestFailure unknown(HeaderFieldList fields, String host, String target,
      @Nullable RevisionId id);

  /**
   * Finds the revision by the two headers, or else by a host such as
   * {@code name.namespace.svc.cluster.local}, or else by the host router.
   *
   * <p><b>Source.</b> {@code contextHandler} in Knative's {@code context_handler.go}.
   */
  record Knative(String clusterDomain, HostRouter router) implements RevisionResolver {
    @Override
    public @Nullable RevisionId of(HeaderFieldList fields, String host, String target) {
      var byHeaders = id(fields.text(KnownHeader.REVISION_NAMESPACE),
          fields.text(KnownHeader.REVISION));
      if (byHeaders != null) {
        return byHeaders;
      }
      String[] parts = host.split("\\.", 4);
      return parts.length == 4 && parts[2].equals("svc") && isOwnDomain(parts[3])
          ? id(parts[1], parts[0])
          : router.revision(host, target, fields);
    }

    private boolean isOwnDomain(String withPort) {
      int colon = withPort.indexOf(':');
      return (colon < 0 ? withPort : withPort.substring(0, colon)).equals(clusterDomain);
    }

    private static @Nullable RevisionId id(String namespace, String name) {
      return namespace.isEmpty() || name.isEmpty() ? null : new RevisionId(namespace, name);
    }

    @Override
    public RequestFailure unknown(HeaderFieldList fields, String host, String target,
        @Nullable RevisionId id) {
      return RequestFailure.unknownRevision(
          id == null ? fields.text(KnownHeader.REVISION) : id.name());
    }
  }

  /**
   * Finds revisions that run on this machine. The hosts of Services come first. The response to an
   * unknown host has a hint.
   *
   * @param hints what is known of an unknown host and others, as the end of a sentence
   */
  record Local(HostRouter services, Knative knative, Function<String, String> hints)
      implements RevisionResolver {
    @Override
    public @Nullable RevisionId of(HeaderFieldList fields, String host, String target) {
      var found = fields.text(KnownHeader.REVISION).isEmpty()
          ? services.revision(host, target, fields)
          : null;
      return found == null ? knative.of(fields, host, target) : found;
    }

    @Override
    public RequestFailure unknown(HeaderFieldList fields, String host, String target,
        @Nullable RevisionId id) {
      return fields.text(KnownHeader.REVISION).isEmpty()
          ? notFound(knative.router, host, target, hints.apply(host))
          : knative.unknown(fields, host, target, id);
    }
  }

  /**
   * Finds the revision by the host router alone, so that callers cannot choose a revision by a
   * header.
   */
  record Hosts(HostRouter router) implements RevisionResolver {
    @Override
    public @Nullable RevisionId of(HeaderFieldList fields, String host, String target) {
      return router.revision(host, target, fields);
    }

    @Override
    public RequestFailure unknown(HeaderFieldList fields, String host, String target,
        @Nullable RevisionId id) {
      return notFound(router, host, target, "");
    }
  }

  private static RequestFailure notFound(HostRouter router, String host, String target,
      String hint) {
    return router.isKnown(host)
        ? RequestFailure.noRule(host, target)
        : RequestFailure.unknownHost(host, hint);
  }
}
