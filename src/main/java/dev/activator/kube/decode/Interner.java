package dev.activator.kube.decode;

import org.jspecify.annotations.Nullable;

/**
 * A table of fixed size that replaces equal values by one instance, to save memory.
 *
 * <p><b>Threads.</b> Any. A race only has the effect that a value is not shared.
 */
public final class Interner<T> {
  private final @Nullable Object[] known;

  /** @param size a power of two */
  public Interner(int size) {
    this.known = new Object[size];
  }

  /** @param value immutable */
  @SuppressWarnings("unchecked") // The returned object is equal to the value, so it has its type.
  public T of(T value) {
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
