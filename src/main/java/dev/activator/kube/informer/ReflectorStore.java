package dev.activator.kube.informer;

import java.util.List;

/**
 * The receiver of a reflector's changes of one kind of objects.
 *
 * <p><b>Threads.</b> Any thread, one at a time. No call waits for a handler, and none throws.
 */
public interface ReflectorStore<T> {
  /** Stores an object that was created or changed. The store decides which. */
  void put(VersionedObject<T> now);

  void remove(VersionedObject<T> last);

  /** Replaces all objects by a complete list. Objects that it lacks were deleted unnoticed. */
  void replace(List<VersionedObject<T>> all);
}
