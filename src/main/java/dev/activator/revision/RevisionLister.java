package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * The known revisions by id.
 *
 * <p><b>Threads.</b> Any thread may call; never blocks.
 */
public interface RevisionLister {
  @Nullable Revision find(RevisionId id);
}
