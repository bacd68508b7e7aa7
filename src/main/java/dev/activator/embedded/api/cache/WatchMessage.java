package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.StatusException;

/** One message of a watch to its client: a change, a bookmark or a failure. */
public sealed interface WatchMessage {
  /**
   * @param object the object; after a deletion, the state that the watch saw last, with the new
   *     revision
   */
  record Changed(ApiStoreChange.Type type, WatchCacheObject object) implements WatchMessage {}

  /** No further event up to this revision matches. */
  record Bookmark(long revision, Position position) implements WatchMessage {}

  record Failed(StatusException failure) implements WatchMessage {}

  enum Position {
    END_OF_INITIAL_EVENTS,
    UNDER_WAY
  }
}
