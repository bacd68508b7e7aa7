package dev.activator.proxy.policy;

import dev.activator.revision.RevisionId;
import org.jspecify.annotations.Nullable;

/**
 * Names a revision by the host of a request that has no revision headers.
 *
 * <p>
 * <b>Threads.</b> Any may call; the answer never waits.
 */
@FunctionalInterface
public interface HostRule {
  /** Hosts name nothing. */
  HostRule NONE = _ -> null;

  /** The revision of this host, which may carry a port; null if there is none. */
  @Nullable RevisionId revision(String host);
}
