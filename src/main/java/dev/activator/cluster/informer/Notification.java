package dev.activator.cluster.informer;

/**
 * A change that a listener is told of.
 *
 * <p>
 * <b>Source.</b> {@code ResourceEventHandler} in client-go's {@code tools/cache/controller.go}, whose
 * tombstones of another type are here a value of {@link FinalState}.
 */
public sealed interface Notification<T> {
  /** Of what. */
  default String key() {
    return switch (this) {
      case Added<T>(var now, _) -> now.key();
      case Updated<T>(_, var now) -> now.key();
      case Deleted<T>(var last, _) -> last.key();
    };
  }

  /** It is there; the listener has not heard of it before. */
  record Added<T>(VersionedObject<T> now, Moment moment) implements Notification<T> {}

  /** It is another than before; the same twice for a listener that asked to be told again. */
  record Updated<T>(VersionedObject<T> before, VersionedObject<T> now) implements Notification<T> {}

  /** It is gone. */
  record Deleted<T>(VersionedObject<T> last, FinalState finalState) implements Notification<T> {}

  /** Whether an object was there before the listener, or came later. */
  enum Moment {
    INITIAL, LATER
  }

  /** Whether the last state is the one it was deleted in, or the last that anybody saw. */
  enum FinalState {
    KNOWN, UNKNOWN
  }
}
