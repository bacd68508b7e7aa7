package dev.activator.kube.informer;

import org.jspecify.annotations.Nullable;

/**
 * A change of one object, or several changes that were merged.
 *
 * <p><b>Source.</b> client-go's {@code ResourceEventHandler}.
 */
public sealed interface InformerNotification<T> {
  /** The object is new to the handler. */
  record Added<T>(VersionedObject<T> now) implements InformerNotification<T> {}

  /** The object has changed. In a resync, both states are the same. */
  record Updated<T>(VersionedObject<T> before, VersionedObject<T> now)
      implements InformerNotification<T> {}

  /**
   * @param before the last state that the handler got
   * @param last the last known state of the object
   */
  record Deleted<T>(VersionedObject<T> before, VersionedObject<T> last, FinalState finalState)
      implements InformerNotification<T> {}

  /** Whether the last known state is the one in which the object was deleted. */
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

  /** The last state that the handler got; null if it got none. */
  default @Nullable VersionedObject<T> before() {
    return switch (this) {
      case Added<T> _ -> null;
      case Updated<T>(var before, _) -> before;
      case Deleted<T>(var before, _, _) -> before;
    };
  }

  /**
   * Merges this change with the next one. The handler has got neither.
   *
   * @return null if the object was created and deleted in between
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
   * The deletion of an object. If the handler knows an object with another uid, it gets the
   * deletion of that one.
   */
  private static <T> InformerNotification<T> gone(VersionedObject<T> known, VersionedObject<T> last,
      FinalState state) {
    return known.uid().equals(last.uid())
        ? new Deleted<>(known, last, state)
        : new Deleted<>(known, known, FinalState.UNKNOWN);
  }
}
