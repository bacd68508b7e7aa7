package dev.activator.cluster.decode;

import dev.activator.cluster.informer.VersionedObject;
import java.time.Duration;

/** One event of a watch. */
public sealed interface WatchEvent<T> {
  /** The object was created or changed. */
  record Put<T>(VersionedObject<T> now) implements WatchEvent<T> {}

  /** The object was deleted. */
  record Removed<T>(VersionedObject<T> last) implements WatchEvent<T> {}

  /** Everything up to this version was told. */
  record Bookmark<T>(String resourceVersion) implements WatchEvent<T> {}

  /**
   * The watch cannot go on.
   *
   * @param code as an HTTP status
   * @param retryAfter how long the server wants to be left alone; zero if it does not say
   */
  record Failed<T>(int code, Duration retryAfter) implements WatchEvent<T> {}
}
