package dev.activator.upstream;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;

/**
 * The pools of one loop, for requests.
 *
 * <p><b>Threads.</b> Only the loop.
 */
public interface PodPools {
  /** Do not keep the result: a pool without connections is forgotten. */
  UpstreamPool to(Destination pod, RevisionId revision);

  /** As {@link #to}. */
  UpstreamPool toHttp2(Destination pod, RevisionId revision);

  /** The address that requests go to; over TLS it has another port. */
  Destination address(Destination pod, RevisionId revision);

  boolean isSecure();
}
