package dev.activator.upstream;

import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.PortProtocol;

/** The connection pools of one event loop, by pod. */
public interface PodConnectionPools {
  /**
   * The pool for a pod. Look it up for each request, because a pool without connections is removed.
   */
  UpstreamPool to(Destination pod, LiveRevision revision, PortProtocol protocol);

  /** The address to which requests are sent. Over TLS it has another port. */
  Destination address(Destination pod, LiveRevision revision);

  /** Whether requests are sent to its pods over TLS. */
  boolean isSecure(LiveRevision revision);
}
