package dev.activator.platform;

import dev.activator.revision.RevisionId;

/**
 * What a person may do to a revision where the activator has the right to; the buttons of the console.
 *
 * <p><b>Threads.</b> Any. An action is begun, not awaited.
 */
public interface RevisionActions {
  void sendRequest(RevisionId id);

  void scaleToZero(RevisionId id);

  void restart(RevisionId id);
}
