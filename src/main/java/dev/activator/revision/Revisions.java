package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * The revisions that exist, as last heard.
 *
 * <p>
 * <b>Threads.</b> Any thread may ask, on the request path too: an answer never waits.
 */
public interface Revisions {
  /** The revision, or null where there is none of that name. */
  @Nullable Revision find(RevisionId id);
}
