package dev.activator.cluster.informer;

import org.jspecify.annotations.Nullable;

/**
 * A change of one object, or several merged.
 *
 * <p><b>Source.</b> client-go's {@code ResourceEventHandler}.
 */
public sealed interface Notification<T> {
  /** The handler has not been told of the object before. */
  record Added<T>(VersionedObject<T> now) implements Notification<T> {}

  /** In a resync both are the same. */
  record Updated<T>(VersionedObject<T> before, VersionedObject<T> now)
      implements Notification<T> {}

  /**
   * @param before what the handler was told last
   * @param last the last known state
   */
  record Deleted<T>(VersionedObject<T> before, VersionedObject<T> last, FinalState finalState)
      implements Notification<T> {}

  /** Whether the last known state is the one it was deleted in. */
  enum FinalState {
    KNOWN,
    UNKNOWN
  }

  default String key() {
    return switch (this) {
      case Added<T>(var now) -> now.key();
      case Updated<T>(_, var now) -> now.key();
      case Deleted<T>(_, var last, _) -> last.key();
    };
  }

  /** What the handler was told last. */
  default @Nullable VersionedObject<T> before() {
    return switch (this) {
      case Added<T> _ -> null;
      case Updated<T>(var before, _) -> before;
      case Deleted<T>(var before, _, _) -> before;
    };
  }

  /**
   * Merges two changes for a handler told of neither.
   *
   * @return null if the object came and went
   */
  default @Nullable Notification<T> then(Notification<T> next) {
    var told = before();
    return switch (next) {
      case Deleted<T>(_, var last, var state) -> told == null ? null : gone(told, last, state);
      case Added<T>(var now) -> told == null ? next : new Updated<>(told, now);
      case Updated<T>(_, var now) -> told == null ? new Added<>(now) : new Updated<>(told, now);
    };
  }

  /** A handler that knows another incarnation is told of that one's end. */
  private static <T> Notification<T> gone(VersionedObject<T> told, VersionedObject<T> last,
      FinalState state) {
    return told.uid().equals(last.uid())
        ? new Deleted<>(told, last, state)
        : new Deleted<>(told, told, FinalState.UNKNOWN);
  }
}
