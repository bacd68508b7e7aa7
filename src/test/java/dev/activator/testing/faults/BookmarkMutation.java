package dev.activator.testing.faults;

import dev.activator.embedded.api.cache.WatchMessage;
import dev.activator.embedded.api.cache.WatchMessage.Bookmark;
import dev.activator.embedded.api.cache.WatchMessage.Changed;
import dev.activator.embedded.api.cache.WatchMessage.Position;
import dev.activator.embedded.api.store.ApiStoreChange;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What can be wrong with bookmarks, and with the events before the first of them. */
final class BookmarkMutation {
  /** Far enough back that no event in between explains it. */
  private static final long LOWER_BY = 1_000;

  private BookmarkMutation() {}

  static EventMutation of(Fault.Bookmarks.Flaw flaw) {
    return switch (flaw) {
      case NONE -> signal -> signal instanceof Bookmark ? List.of() : List.of(signal);
      case END_NOT_MARKED -> signal -> List.of(unmarked(signal));
      case DUPLICATED ->
        signal -> signal instanceof Bookmark ? List.of(signal, signal) : List.of(signal);
      case LOWER_REVISION -> signal -> List.of(lower(signal));
      case BEFORE_THE_LAST -> new MarkFirst();
    };
  }

  private static WatchMessage unmarked(WatchMessage signal) {
    return signal instanceof Bookmark(long revision, _)
        ? new Bookmark(revision, Position.UNDER_WAY)
        : signal;
  }

  private static WatchMessage lower(WatchMessage signal) {
    return signal instanceof Bookmark(long revision, var position)
        ? new Bookmark(Math.max(1, revision - LOWER_BY), position)
        : signal;
  }

  private static boolean marksTheEnd(WatchMessage signal) {
    return signal instanceof Bookmark(_, var position)
        && position == Position.END_OF_INITIAL_EVENTS;
  }

  /** Keeps one initial event back until the mark is told. */
  private static final class MarkFirst implements EventMutation {
    private @Nullable WatchMessage held;
    private boolean marked;

    @Override
    public List<WatchMessage> rest() {
      var waiting = held;
      held = null;
      marked = true;
      return waiting == null ? List.of() : List.of(waiting);
    }

    @Override
    public List<WatchMessage> tell(WatchMessage signal) {
      if (marked) {
        return List.of(signal);
      }
      var before = held;
      if (signal instanceof Changed) {
        held = signal;
        return before == null ? List.of() : List.of(before);
      }
      marked = true;
      held = null;
      return before == null ? List.of(signal) : List.of(signal, before);
    }
  }

  /** Tells a change of the last initial object before the mark. */
  static final class Early implements EventMutation {
    private final ApiStoreChange.Type type;
    private @Nullable Changed last;

    Early(ApiStoreChange.Type type) {
      this.type = type;
    }

    @Override
    public List<WatchMessage> tell(WatchMessage signal) {
      if (signal instanceof Changed changed) {
        last = changed;
        return List.of(signal);
      }
      var object = last == null ? null : last.object();
      if (object == null || !marksTheEnd(signal)) {
        return List.of(signal);
      }
      var change = new Changed(type, object);
      return type == ApiStoreChange.Type.DELETED
          ? List.of(change, new Changed(ApiStoreChange.Type.ADDED, object), signal)
          : List.of(change, signal);
    }
  }

  /** Changes nothing, and knows how far the watch is. */
  static final class LastSeen implements EventMutation {
    private long revision;

    @Override
    public List<WatchMessage> tell(WatchMessage signal) {
      switch (signal) {
        case Changed(_, var object) -> revision = Math.max(revision, object.revision());
        case Bookmark(long received, _) -> revision = Math.max(revision, received);
        case WatchMessage.Failed _ -> {
          // Says nothing about revisions.
        }
      }
      return List.of(signal);
    }

    Optional<WatchMessage> bookmark() {
      return revision == 0
          ? Optional.empty()
          : Optional.of(new Bookmark(revision, Position.UNDER_WAY));
    }
  }
}
