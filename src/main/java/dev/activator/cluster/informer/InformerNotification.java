package dev.activator.cluster.informer;

import org.jspecify.annotations.Nullable;

/**
 * A change of one object, or several merged.
 *
 * <p><b>Source.</b> client-go's {@code ResourceEventHandler}.
 */
public sealed interface InformerNotification<T> {
  /** The handler does not know the object yet. */
  record Added<T>(VersionedObject<T> now) implements InformerNotification<T> {}

  /** In a resync both are the same. */
  record Updated<T>(VersionedObject<T> before, VersionedObject<T> now)
      implements InformerNotification<T> {}

  /**
   * @param before the state that the handler got last
   * @param last the last known state
   */
  record Deleted<T>(VersionedObject<T> before, VersionedObject<T> last, FinalState finalState)
      implements InformerNotification<T> {}

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

  /** The state that the handler got last. */
  default @Nullable VersionedObject<T> before() {
    return switch (this) {
      case Added<T> _ -> null;
      case Updated<T>(var before, _) -> before;
      case Deleted<T>(var before, _, _) -> before;
    };
  }

  /**
   * Merges two changes of which the handler has seen neither.
   *
   * @return null if the object came and went
   */
  default @Nullable InformerNotification<T> then(InformerNotification<T> next) {
    var known = before();
    return switch (next) {
      case Deleted<T>(_, var last, var state) -> known == null ? null : gone(known, last, state);
      case Added<T>(var now) -> known == null ? next : new Updated<>(known, now);
      case Updated<T>(_, var now) -> known == null ? new Added<>(now) : new Updated<>(known, now);
    };
  }

  /**
   * The deletion of an object. A handler that knows another incarnation is notified of the end of
   * that one.
   */
  private static <T> InformerNotification<T> gone(VersionedObject<T> known, VersionedObject<T> last,
      FinalState state) {
    return known.uid().equals(last.uid())
        ? new Deleted<>(known, last, state)
        : new Deleted<>(known, known, FinalState.UNKNOWN);
  }
}
