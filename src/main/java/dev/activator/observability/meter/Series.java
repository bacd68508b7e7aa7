package dev.activator.observability.meter;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Values by a small number each, found without making anything: for what a request is counted in.
 *
 * <p>
 * <b>Threads.</b> One finds and adds; any may look at {@link #all}.
 */
public final class Series<T> {
  /** The keys, ascending, and what they stand for. */
  private record Content<T>(int[] keys, T[] values) {}

  private final IntFunction<@Nullable T> make;
  private volatile @Nullable Content<T> content;
  private int lastKey;
  private @Nullable T last;

  /** @param make makes the value of a key that is new; null if there can be no more */
  public Series(IntFunction<@Nullable T> make) {
    this.make = make;
  }

  /** The value of this key; null if it has none. */
  public @Nullable T find(int key) {
    // Nearly always the same as before: GET, HTTP/1.1, 200.
    var same = last;
    if (same != null && lastKey == key) {
      return same;
    }
    var found = search(key);
    last = found;
    lastKey = key;
    return found;
  }

  private @Nullable T search(int key) {
    var now = content;
    int at = now == null ? -1 : Arrays.binarySearch(now.keys, key);
    return now != null && at >= 0 ? now.values[at] : add(key, now, -1 - at);
  }

  @SuppressWarnings("unchecked") // Nobody but this class sees the array.
  private @Nullable T add(int key, @Nullable Content<T> before, int at) {
    var value = make.apply(key);
    if (value == null) {
      return null;
    }
    int size = before == null ? 0 : before.keys.length;
    var keys = new int[size + 1];
    var values = (T[]) new Object[size + 1];
    if (before != null) {
      System.arraycopy(before.keys, 0, keys, 0, at);
      System.arraycopy(before.values, 0, values, 0, at);
      System.arraycopy(before.keys, at, keys, at + 1, size - at);
      System.arraycopy(before.values, at, values, at + 1, size - at);
    }
    keys[at] = key;
    values[at] = value;
    content = new Content<>(keys, values);
    return value;
  }

  /** What there is now; not to be changed. */
  public List<T> all() {
    var now = content;
    return now == null ? List.of() : Arrays.asList(now.values);
  }
}
