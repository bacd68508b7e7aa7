package dev.activator.cluster.informer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/** What one listener has yet to be told, oldest first. Not safe for threads. */
sealed interface Pending<T> {
  /**
   * @param order of arrival, as a number
   * @param sinceNanos on the listener's loop
   */
  record Item<T>(Change<T> change, long order, long sinceNanos) {}

  void add(Item<T> item);

  /** The one that waits longest; null if none does. */
  @Nullable Item<T> oldest();

  /** Takes {@link #oldest}. */
  @Nullable Item<T> poll();

  int size();

  void clear();

  /** Every change by itself, however many. */
  final class EachChange<T> implements Pending<T> {
    private final Deque<Item<T>> items = new ArrayDeque<>();

    @Override
    public void add(Item<T> item) {
      items.add(item);
    }

    @Override
    public @Nullable Item<T> oldest() {
      return items.peek();
    }

    @Override
    public @Nullable Item<T> poll() {
      return items.poll();
    }

    @Override
    public int size() {
      return items.size();
    }

    @Override
    public void clear() {
      items.clear();
    }
  }

  /** The changes of a key as one, in the place of the first: never more items than keys. */
  final class LatestOfEachKey<T> implements Pending<T> {
    private final LinkedHashMap<String, Item<T>> items = new LinkedHashMap<>();

    @Override
    public void add(Item<T> item) {
      items.merge(item.change().key(), item, (first, next) -> {
        var both = first.change().then(next.change());
        return both == null ? null : new Item<>(both, first.order(), first.sinceNanos());
      });
    }

    @Override
    public @Nullable Item<T> oldest() {
      var first = items.firstEntry();
      return first == null ? null : first.getValue();
    }

    @Override
    public @Nullable Item<T> poll() {
      var first = items.pollFirstEntry();
      return first == null ? null : first.getValue();
    }

    @Override
    public int size() {
      return items.size();
    }

    @Override
    public void clear() {
      items.clear();
    }
  }
}
