package dev.activator.proxy.policy;

import dev.activator.revision.RevisionId;
import org.jspecify.annotations.Nullable;

/**
 * Names a revision by the host of a request without revision headers.
 *
 * <p><b>Threads.</b> Any; must not block.
 */
@FunctionalInterface
public interface HostRule {
  /** The host may carry a port. Null for no revision. */
  @Nullable RevisionId revision(String host);
}
