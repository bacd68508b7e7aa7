package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The method of a state that another version, or another mode, has written. */
enum UnknownSleep implements PodSleep {
  METHOD;

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
}
