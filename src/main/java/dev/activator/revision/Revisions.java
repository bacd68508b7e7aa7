package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/** <b>Threads.</b> Any thread may call; never blocks. */
public interface Revisions {
  @Nullable Revision find(RevisionId id);
}
