package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * The revisions that exist, as Kubernetes said last.
 *
 * <p>
 * <b>Threads.</b> Any thread may call, on the request path too: a call never blocks.
 */
public interface Revisions {
  /** The revision, or null where there is none of that name. */
  @Nullable Revision find(RevisionId id);
}
