package dev.activator.cluster.informer;

import org.jspecify.annotations.Nullable;

/**
 * A change of one object, or several in a row as one, as a handler is told of it.
 *
 * <p>
 * <b>Source.</b> {@code ResourceEventHandler} in client-go's {@code tools/cache/controller.go}; its
 * tombstone type is here a value of {@link FinalState}.
 */
public sealed interface Notification<T> {
  /** The object is there; the handler has not been told of it before. */
  record Added<T>(VersionedObject<T> now, Moment moment) implements Notification<T> {}

  /** The object changed; both are the same for a handler that is told again (resync). */
  record Updated<T>(VersionedObject<T> before, VersionedObject<T> now)
      implements
      Notification<T> {}

  /**
   * The object is gone.
   *
   * @param before what the handler was told last
   * @param last the last known state
   */
  record Deleted<T>(VersionedObject<T> before, VersionedObject<T> last, FinalState finalState)
      implements
      Notification<T> {}

  /** Whether an object was there before the handler, or came later. */
  enum Moment {
    INITIAL, LATER
  }

  /** Whether the last known state is the one the object was deleted in. */
  enum FinalState {
    KNOWN, UNKNOWN
  }

  /** The key of the object. */
  default String key() {
    return switch (this) {
      case Added<T>(var now, _) -> now.key();
      case Updated<T>(_, var now) -> now.key();
      case Deleted<T>(_, var last, _) -> last.key();
    };
  }

  /** What the handler was told last; null if nothing. */
  default @Nullable VersionedObject<T> before() {
    return switch (this) {
      case Added<T> _ -> null;
      case Updated<T>(var before, _) -> before;
      case Deleted<T>(var before, _, _) -> before;
    };
  }

  /**
   * This change and the next one as a single change, for a handler that was told of neither.
   *
   * @return null if nothing is left to tell: the object came and went
   */
  default @Nullable Notification<T> then(Notification<T> next) {
    var told = before();
    return switch (next) {
      case Deleted<T>(_, var last, var state) -> told == null ? null : gone(told, last, state);
      case Added<T>(var now, _) -> told == null ? next : new Updated<>(told, now);
      case Updated<T>(_, var now) -> this instanceof Added<T>(_, var moment)
          ? new Added<>(now, moment)
          : told == null ? next : new Updated<>(told, now);
    };
  }

  /** A handler that was told of another incarnation hears the end of that one. */
  private static <T> Notification<T> gone(VersionedObject<T> told, VersionedObject<T> last,
      FinalState state) {
    return told.uid().equals(last.uid())
        ? new Deleted<>(told, last, state)
        : new Deleted<>(told, told, FinalState.UNKNOWN);
  }
}
