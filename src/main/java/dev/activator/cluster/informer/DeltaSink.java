package dev.activator.cluster.informer;

import java.util.List;

/**
 * Where what the API shows is put, in the order in which it was shown.
 *
 * <p>
 * <b>Threads.</b> Called from any thread, but by one caller at a time. No call waits for a listener.
 *
 * <p>
 * <b>Errors.</b> None are thrown.
 */
public interface DeltaSink<T> {
  /** It was created or changed; which of the two, what is stored decides. */
  void put(VersionedObject<T> now);

  /** It was deleted, and this was its last state. */
  void remove(VersionedObject<T> last);

  /** This is all there is. What is not in it was deleted at a moment nobody saw. */
  void replace(List<VersionedObject<T>> all);
}
