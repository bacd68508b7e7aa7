package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.StatusException;

/**
 * One message that the embedded API's watch sends to its client: a change, a bookmark or a
 * failure.
 */
public sealed interface WatchMessage {
  /** @param object for a deletion, as the watch last saw it, with the new revision */
  record Changed(ApiStoreChange.Type type, WatchCacheObject object) implements WatchMessage {}

  /** Nothing matches up to this revision. */
  record Bookmark(long revision, Position position) implements WatchMessage {}

  record Failed(StatusException failure) implements WatchMessage {}

  enum Position {
    END_OF_INITIAL_EVENTS,
    UNDER_WAY
  }
}
