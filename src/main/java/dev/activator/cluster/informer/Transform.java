package dev.activator.cluster.informer;

import org.jspecify.annotations.Nullable;

/**
 * Changes an object before it is stored; called once for each, on the informer's loop.
 *
 * <p>
 * <b>Source.</b> {@code TransformFunc} in client-go's {@code tools/cache/delta_fifo.go}; this one is
 * also given the stored object.
 */
@FunctionalInterface
public interface Transform<T> {
  VersionedObject<T> apply(@Nullable VersionedObject<T> stored, VersionedObject<T> seen);
}
