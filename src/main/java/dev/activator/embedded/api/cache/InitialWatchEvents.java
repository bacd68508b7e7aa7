package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.WatchMessage.Bookmark;
import dev.activator.embedded.api.cache.WatchMessage.Changed;
import dev.activator.embedded.api.cache.WatchMessage.Position;
import dev.activator.embedded.api.cache.CacheWatcher.Request.Bookmarks;
import dev.activator.embedded.api.store.ApiStoreChange;
import java.util.Collections;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * The backlog of a watch: the objects or events that it sends before live events. They are not
 * copied, but read when the client can take them.
 */
sealed interface InitialWatchEvents {
  @Nullable WatchMessage next();

  /** Whether events have left the window before they were read. */
  boolean lost();

  /** Whether the bookmark after the initial events has not been sent yet. */
  boolean bookmarkPending();

  InitialWatchEvents NONE = new Objects(Collections.emptyIterator(), 0, Bookmarks.UNWANTED);

  final class Objects implements InitialWatchEvents {
    private final Iterator<WatchCacheObject> rest;
    private final long revision;
    private boolean bookmarkPending;

    Objects(Iterator<WatchCacheObject> objects, long revision, Bookmarks bookmarks) {
      this.rest = objects;
      this.revision = revision;
      this.bookmarkPending = bookmarks == Bookmarks.WANTED;
    }

    @Override
    public @Nullable WatchMessage next() {
      if (rest.hasNext()) {
        return new Changed(ApiStoreChange.Type.ADDED, rest.next());
      }
      if (!bookmarkPending) {
        return null;
      }
      bookmarkPending = false;
      return new Bookmark(revision, Position.END_OF_INITIAL_EVENTS);
    }

    @Override
    public boolean lost() {
      return false;
    }

    @Override
    public boolean bookmarkPending() {
      return bookmarkPending;
    }
  }

  final class Events implements InitialWatchEvents {
    private final WatchEventWindow window;
    private final ObjectSelection selection;
    private final long end;
    private long next;

    Events(WatchEventWindow window, ObjectSelection selection, long first) {
      this.window = window;
      this.selection = selection;
      this.next = first;
      this.end = window.end();
    }

    @Override
    public @Nullable WatchMessage next() {
      while (next < end && !lost()) {
        var seen = selection.signalFor(window.at(next));
        next++;
        if (seen != null) {
          return seen;
        }
      }
      return null;
    }

    @Override
    public boolean lost() {
      return next < end && next < window.start();
    }

    @Override
    public boolean bookmarkPending() {
      return false;
    }
  }
}
