package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.revision.PodFreezer;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Freezes the processes of pods. */
record FreezeSleep(PodFreezer freezer) implements PodSleep {
  @Override
  public CompletableFuture<String> sleep(RevisionId id, List<Destination> pods,
      IdleTarget target) {
    return freezer.freeze(pods);
  }

  @Override
  public CompletableFuture<String> wake(RevisionId id, List<Destination> pods,
      IdleTarget target) {
    return freezer.thaw(pods).thenApply(_ -> "");
  }

  @Override
  public boolean wakesAtOnce() {
    return true;
  }
}
