package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

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

  /** The method of a state that another version, or another mode, has written. */
  PodSleep UNKNOWN = new PodSleep() {
    @Override
    public CompletableFuture<String> sleep(RevisionId id, List<Destination> pods,
        IdleTarget target) {
      return wake(id, pods, target);
    }

    @Override
    public CompletableFuture<String> wake(RevisionId id, List<Destination> pods,
        IdleTarget target) {
      return CompletableFuture
          .completedFuture("this activator does not know how they were put to sleep");
    }
  };

  /** Does the same with all of them at once. Completes with the first problem; empty if there is none. */
  static <T> CompletableFuture<String> withAll(List<T> all,
      Function<T, CompletableFuture<String>> one) {
    return all.stream().map(one).reduce(CompletableFuture.completedFuture(""),
        (before, next) -> before.thenCombine(next, (a, b) -> a.isEmpty() ? b : a));
  }

  /** Completes on the loop when the time has passed. */
  static CompletableFuture<Void> pause(Loop loop, Duration time) {
    var over = new CompletableFuture<Void>();
    loop.schedule(time, () -> over.complete(null));
    return over;
  }
}
