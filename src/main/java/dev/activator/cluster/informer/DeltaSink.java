package dev.activator.cluster.informer;

import java.util.List;

/**
 * Takes what the API shows, in the order in which it is shown.
 *
 * <p>
 * <b>Threads.</b> Any thread may call, one at a time. No call waits for a handler.
 *
 * <p>
 * <b>Errors.</b> None are thrown.
 */
public interface DeltaSink<T> {
  /** The object was created or changed; the store decides which. */
  void put(VersionedObject<T> now);

  /** The object was deleted, and this was its last state. */
  void remove(VersionedObject<T> last);

  /** These are all objects. Any other was deleted at a moment that no watch saw. */
  void replace(List<VersionedObject<T>> all);
}
