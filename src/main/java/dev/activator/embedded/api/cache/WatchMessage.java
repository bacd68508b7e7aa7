package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.StatusException;

/** A message of a watch to its client. */
public sealed interface WatchMessage {
  /** @param object for a deletion, as the watch last saw it, with the new revision */
  record Changed(ApiEvent.Type type, CachedObject object) implements WatchMessage {}

  /** Nothing matches up to this revision. */
  record Bookmark(long revision, Position position) implements WatchMessage {}

  record Failed(StatusException failure) implements WatchMessage {}

  enum Position {
    END_OF_INITIAL_EVENTS,
    UNDER_WAY
  }
}
