package dev.activator.cluster.informer;

import java.util.List;

/**
 * Receives the changes of one kind of objects, from a reflector.
 *
 * <p><b>Threads.</b> Any, one at a time. No call waits for a handler or throws.
 */
public interface ReflectorStore<T> {
  /** Created or changed; the store decides which. */
  void put(VersionedObject<T> now);

  void remove(VersionedObject<T> last);

  /** The complete list: any other object was deleted unseen. */
  void replace(List<VersionedObject<T>> all);
}
