package dev.activator.stats;

import dev.activator.revision.RevisionId;

/**
 * A counter of the requests of one loop.
 *
 * <p><b>Threads.</b> Confined to one loop, whose requests it counts, queued ones included.
 */
public interface RequestCounter {
  void arrived(RevisionId revision);

  /** Once for each arrival, however the request ended. */
  void left(RevisionId revision);
}
