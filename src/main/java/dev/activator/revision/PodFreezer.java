package dev.activator.revision;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;

/**
 * Stops the processes of pods without ending them, and lets them go on.
 *
 * <p><b>Threads.</b> Any may call.
 */
public interface PodFreezer {
  /** @return why a pod could not be frozen; empty if all are */
  CompletableFuture<String> freeze(Collection<Destination> pods);

  /** Idempotent: pods that are not frozen, or are gone, stay as they are. */
  CompletableFuture<Void> thaw(Collection<Destination> pods);
}
