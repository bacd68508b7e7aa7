package dev.activator.embedded.autoscaler;

import dev.activator.revision.RevisionId;

/** What makes the number of a revision's pods so. */
@FunctionalInterface
public interface Scaler {
  /**
   * The revision should have this many pods. Said again every second while there are any; a
   * revision that is gone is ignored.
   */
  void scale(RevisionId revision, int pods);
}
