package dev.activator.stats;

import dev.activator.revision.RevisionId;

/**
 * Counts the requests of one loop, including queued ones.
 *
 * <p>
 * <b>Threads.</b> Only that loop may call.
 */
public interface RequestCounter {
  void arrived(RevisionId revision);

  /** Called once for each arrival, however the request ended. */
  void left(RevisionId revision);
}
