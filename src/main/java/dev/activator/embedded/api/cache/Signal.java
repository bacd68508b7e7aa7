package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.StatusException;

/** One thing that a watch sends to its client. */
public sealed interface Signal {
  /**
   * An object changed, as far as this watch sees.
   *
   * @param type what happened
   * @param object as it is now; for a deleted one, as the watch last saw it, with the revision at
   *        which it went
   */
  record Changed(ApiEvent.Type type, CachedObject object) implements Signal {}

  /**
   * There is nothing to see up to this revision.
   *
   * @param revision to resume from
   * @param position what it marks
   */
  record Bookmark(long revision, Position position) implements Signal {}

  /** The watch failed and ends. */
  record Failed(StatusException failure) implements Signal {}

  /** Where in a watch a bookmark is. */
  enum Position {
    /** After the last of the objects that were there at the start. */
    END_OF_INITIAL_EVENTS,
    /** Anywhere later. */
    UNDER_WAY
  }
}
