package dev.activator.proxy.policy;

import dev.activator.http.HeaderMap;
import dev.activator.revision.RevisionId;
import org.jspecify.annotations.Nullable;

/**
 * Finds the revision of a request without revision headers by its host, path and header fields.
 *
 * <p><b>Threads.</b> Any; must not block.
 */
@FunctionalInterface
public interface HostRouter {
  HostRouter NONE = (_, _, _) -> null;

  /**
   * The revision of a request; null if there is none.
   *
   * @param host may carry a port
   * @param target path and query
   */
  @Nullable RevisionId revision(String host, String target, HeaderMap fields);

  /** Whether some requests for the host have a revision. */
  default boolean isKnown(String host) {
    return false;
  }
}
