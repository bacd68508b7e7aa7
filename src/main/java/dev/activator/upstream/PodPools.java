package dev.activator.upstream;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;

/** The pools of one loop. */
public interface PodPools {
  /** Look it up for each request: a pool without connections is forgotten. */
  UpstreamPool to(Destination pod, RevisionId revision);

  UpstreamPool toHttp2(Destination pod, RevisionId revision);

  /** Where requests go; over TLS it is another port. */
  Destination address(Destination pod, RevisionId revision);

  boolean isSecure();
}
