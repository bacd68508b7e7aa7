package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.revision.Destination;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Puts pods to sleep, and wakes them. Both are idempotent.
 *
 * <p><b>Threads.</b> Any; an answer comes on any.
 *
 * <p><b>Errors.</b> A sentence with the first problem; empty if there is none.
 */
interface PodSleep {
  CompletableFuture<String> sleep(List<Destination> pods, IdleTarget target);

  CompletableFuture<String> wake(List<Destination> pods, IdleTarget target);

  /** Whether no other process could find them half awake, so that this need not be stored first. */
  default boolean wakesAtOnce() {
    return false;
  }
}
