package dev.activator.upstream;

import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;

/** The connection pools of one event loop, by pod. */
public interface PodConnectionPools {
  /**
   * The pool for a pod. Look it up for each request, because a pool without connections is removed.
   */
  UpstreamPool to(Destination pod, LiveRevision revision);

  UpstreamPool toHttp2(Destination pod, LiveRevision revision);

  /** The address to which requests are sent. Over TLS it has another port. */
  Destination address(Destination pod, LiveRevision revision);

  boolean isSecure();
}
