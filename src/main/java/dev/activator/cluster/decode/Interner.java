package dev.activator.cluster.decode;

import org.jspecify.annotations.Nullable;

/**
 * Returns one instance for equal values that repeat, from a table of fixed size.
 *
 * <p><b>Threads.</b> Any; a race only costs a miss.
 */
final class Interner<T> {
  private final @Nullable Object[] known;

  /** @param size a power of two */
  Interner(int size) {
    this.known = new Object[size];
  }

  /** @param value immutable */
  @SuppressWarnings("unchecked") // Only what is equal to the value is returned.
  T of(T value) {
    int hash = value.hashCode();
    int slot = (hash ^ hash >>> 16) & (known.length - 1);
    var shared = known[slot];
    if (shared != null && shared.equals(value)) {
      return (T) shared;
    }
    known[slot] = value;
    return value;
  }
}
