package dev.activator.cluster.informer;

import dev.activator.cluster.informer.Notification.FinalState;

/**
 * What was seen of one object, and has yet to reach the store.
 *
 * <p>
 * <b>Source.</b> {@code Delta} in client-go's {@code tools/cache/delta_fifo.go}.
 */
sealed interface Delta<T> {
  /** The object as it was seen. */
  VersionedObject<T> sighting();

  /** It came while nothing was known under its key. */
  record Added<T>(VersionedObject<T> sighting) implements Delta<T> {}

  /** It changed. */
  record Updated<T>(VersionedObject<T> sighting) implements Delta<T> {}

  /** It is gone; the sighting is its last. */
  record Deleted<T>(VersionedObject<T> sighting, FinalState finalState) implements Delta<T> {}

  /** A list showed it, changed or not. */
  record Replaced<T>(VersionedObject<T> sighting) implements Delta<T> {}

  /** It is what it was; it is time to tell those who want to be told again. */
  record Sync<T>(VersionedObject<T> sighting) implements Delta<T> {}
}
