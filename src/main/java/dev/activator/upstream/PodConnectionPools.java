package dev.activator.upstream;

import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.PodIdentity;
import dev.activator.revision.PortProtocol;
import org.jspecify.annotations.Nullable;

/** The connection pools of one event loop, by pod. */
public interface PodConnectionPools {
  /**
   * The pool for a pod. Look it up for each request, because a pool without connections is removed.
   *
   * @param identity of a pod that speaks TLS itself; null for others
   */
  UpstreamPool to(Destination pod, LiveRevision revision, @Nullable PodIdentity identity,
      PortProtocol protocol);

  /** The address to which requests are sent. Over TLS to a queue-proxy it has another port. */
  Destination address(Destination pod, LiveRevision revision, @Nullable PodIdentity identity);

  /** Whether requests are sent over TLS to a pod with this identity. */
  boolean isSecure(@Nullable PodIdentity identity);
}
