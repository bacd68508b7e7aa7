package dev.activator.testing.faults;

import dev.activator.embedded.api.cache.WatchMessage;
import dev.activator.embedded.api.cache.WatchMessage.Changed;
import dev.activator.embedded.api.store.ApiStoreChange;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes of each signal of a watch what the client is told: itself, others, or nothing. */
interface EventMutation {
  /** What is told instead of this. Called in order of the signals. */
  List<WatchMessage> tell(WatchMessage signal);

  /** What it still holds back. */
  default List<WatchMessage> rest() {
    return List.of();
  }

  static EventMutation of(Fault.OnWatch fault) {
    return switch (fault) {
      case Fault.Duplicate(int event, var as) -> new Doubled(event, as);
      case Fault.Drop(int event) -> new Dropped(event);
      case Fault.Swap(int event, var pair) -> new Swapped(event, pair);
      case Fault.Bookmarks(var flaw) -> BookmarkMutation.of(flaw);
      case Fault.EarlyChange(var type) -> new BookmarkMutation.Early(type);
      case Fault.EndWatch _,Fault.FailWatch _,Fault.StopTaking _,Fault.FrequentBookmarks _ ->
        throw new IllegalArgumentException(fault + " changes no signal");
    };
  }

  /** Counts events, and does something to one of them. */
  abstract class OfOne implements EventMutation {
    private final int event;
    private int seen;

    OfOne(int event) {
      this.event = event;
    }

    @Override
    public List<WatchMessage> tell(WatchMessage signal) {
      if (signal instanceof Changed changed) {
        seen++;
        return seen == event ? hit(changed) : pass(changed);
      }
      return other(signal);
    }

    List<WatchMessage> other(WatchMessage signal) {
      return List.of(signal);
    }

    abstract List<WatchMessage> hit(Changed changed);

    List<WatchMessage> pass(Changed changed) {
      return List.of(changed);
    }
  }

  /** Tells one event twice. */
  final class Doubled extends OfOne {
    private final Fault.Duplicate.As as;

    Doubled(int event, Fault.Duplicate.As as) {
      super(event);
      this.as = as;
    }

    @Override
    List<WatchMessage> hit(Changed changed) {
      return switch (as) {
        case THE_SAME -> List.of(changed, changed);
        case ADDED -> List.of(changed, new Changed(ApiStoreChange.Type.ADDED, changed.object()));
      };
    }
  }

  /** Leaves one event out. */
  final class Dropped extends OfOne {
    Dropped(int event) {
      super(event);
    }

    @Override
    List<WatchMessage> hit(Changed changed) {
      return List.of();
    }
  }

  /** Holds one event back until another has come that may go first. */
  final class Swapped extends OfOne {
    private final Fault.Swap.Of pair;
    private @Nullable Changed held;

    Swapped(int event, Fault.Swap.Of pair) {
      super(event);
      this.pair = pair;
    }

    @Override
    List<WatchMessage> hit(Changed changed) {
      held = changed;
      return List.of();
    }

    /** A client resumes from a bookmark: it must have what came before. */
    @Override
    List<WatchMessage> other(WatchMessage signal) {
      var waiting = held;
      held = null;
      return waiting == null ? List.of(signal) : List.of(waiting, signal);
    }

    @Override
    public List<WatchMessage> rest() {
      var waiting = held;
      held = null;
      return waiting == null ? List.of() : List.of(waiting);
    }

    @Override
    List<WatchMessage> pass(Changed changed) {
      var waiting = held;
      if (waiting == null) {
        return List.of(changed);
      }
      boolean sameKey = waiting.object().key().equals(changed.object().key());
      boolean fits = switch (pair) {
        case DIFFERENT_KEYS -> !sameKey;
        case ONE_KEY -> sameKey;
      };
      if (!fits && pair == Fault.Swap.Of.ONE_KEY) {
        return List.of(changed);
      }
      held = null;
      // With another event of its own key next, the one that waits must go first after all.
      return fits ? List.of(changed, waiting) : List.of(waiting, changed);
    }
  }
}
