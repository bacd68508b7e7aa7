package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.StatusException;

/** One thing that a watch sends to its client. */
public sealed interface Signal {
  /**
   * An object changed, as far as this watch sees.
   *
   * @param object for a deletion, as the watch last saw it, with the revision of the deletion
   */
  record Changed(ApiEvent.Type type, CachedObject object) implements Signal {}

  /** Nothing matches up to this revision, from which the client may resume. */
  record Bookmark(long revision, Position position) implements Signal {}

  /** The watch failed and ends. */
  record Failed(StatusException failure) implements Signal {}

  enum Position {
    /** After the initial objects. */
    END_OF_INITIAL_EVENTS,
    /** Later. */
    UNDER_WAY
  }
}
