package dev.activator.upstream;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;

/**
 * The pools of one event loop, for requests to all pods.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
public interface PodPools {
  /**
   * The HTTP/1 connections to one pod, for requests of this revision. Look it up for each request:
   * a pool without connections is forgotten.
   */
  UpstreamPool to(Destination pod, RevisionId revision);

  /** As the other, the HTTP/2 connections. */
  UpstreamPool toHttp2(Destination pod, RevisionId revision);

  /** Where requests of this revision go that are to run there: over TLS it is another port. */
  Destination address(Destination pod, RevisionId revision);

  /** Whether requests go to pods over TLS. */
  boolean isSecure();
}
