package dev.activator.stats;

import dev.activator.revision.RevisionId;

/**
 * Counts the requests of one loop. A request counts from arrival to its end, the time it is queued
 * included.
 *
 * <p>
 * <b>Threads.</b> Only the loop it was made for may call.
 */
public interface RequestCounter {
  /** A request has arrived. The first one of an idle revision is told at once. */
  void arrived(RevisionId revision);

  /** It is over, however it ended; once for each arrival. */
  void left(RevisionId revision);
}
