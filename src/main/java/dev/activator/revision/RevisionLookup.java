package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * Finds a known revision by its id.
 *
 * <p><b>Threads.</b> Any thread may call; never blocks.
 */
public interface RevisionLookup {
  @Nullable Revision find(RevisionId id);
}
