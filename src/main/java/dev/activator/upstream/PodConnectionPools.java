package dev.activator.upstream;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;

/** The connection pools of one event loop, by pod. */
public interface PodConnectionPools {
  /**
   * The pool for a pod. Look it up for each request, because a pool without connections is removed.
   */
  UpstreamPool to(Destination pod, RevisionId revision);

  UpstreamPool toHttp2(Destination pod, RevisionId revision);

  /** The address to which requests are sent. Over TLS it has another port. */
  Destination address(Destination pod, RevisionId revision);

  boolean isSecure();
}
