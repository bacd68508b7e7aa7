package dev.activator.console;

import dev.activator.revision.RevisionId;

/** What the buttons of the console do to a revision. Each method returns at once. */
public interface ConsoleActions {
  void sendRequest(RevisionId id);

  void scaleToZero(RevisionId id);

  void restart(RevisionId id);
}
