package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Puts pods of a ScaledService to sleep, and wakes them. Both are idempotent.
 *
 * <p><b>Threads.</b> Any; an answer comes on any.
 *
 * <p><b>Errors.</b> A sentence with the first problem; empty if there is none.
 */
interface PodSleep {
  CompletableFuture<String> sleep(RevisionId id, List<Destination> pods,
      IdleTarget target);

  CompletableFuture<String> wake(RevisionId id, List<Destination> pods,
      IdleTarget target);

  /** Whether no other process could find them half awake, so that this need not be stored first. */
  default boolean wakesAtOnce() {
    return false;
  }
}
