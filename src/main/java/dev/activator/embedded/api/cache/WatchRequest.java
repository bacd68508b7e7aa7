package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.policy.WatchStart;
import java.time.Duration;

/**
 * What a watcher asks for.
 *
 * @param start where it begins
 * @param selection what it sees
 * @param bookmarks whether it wants to be told how far it is when there is nothing to see
 * @param timeout after which it ends
 */
public record WatchRequest(WatchStart start, Selection selection, Bookmarks bookmarks,
    Duration timeout) {
  /** Whether a watcher understands bookmarks. */
  public enum Bookmarks {
    WANTED, UNWANTED
  }

  boolean wantsBookmarks() {
    return bookmarks == Bookmarks.WANTED;
  }
}
