package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.StatusField;
import dev.activator.revision.IdleState;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.Slot;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Puts the last pods of workloads to sleep where the autoscaler writes zero replicas, and wakes them where
 * it writes more.
 *
 * <p><b>Threads.</b> The autoscaler's loop.
 */
final class IdleClient implements ScaleClient<IdleTarget> {
  private final IdleMethod.Environment environment;
  private final StatusField<IdleState> states;
  private final Supplier<Map<String, PodSleep>> methods;
  private final LiveRevisions revisions;
  private final Slot<IdleWorkload> workloads;

  /** @param methods makes those of a workload, by the field {@code do} */
  IdleClient(IdleMethod.Environment environment, StatusField<IdleState> states,
      Supplier<Map<String, PodSleep>> methods, LiveRevisions revisions) {
    this.environment = environment;
    this.states = states;
    this.methods = methods;
    this.revisions = revisions;
    this.workloads = revisions.declare("sleep", live -> made(live.id()),
        last -> environment.loop().execute(last::onEnd));
  }

  private IdleWorkload made(RevisionId id) {
    return new IdleWorkload(id, environment, states, methods.get());
  }

  private IdleWorkload workload(RevisionId id, IdleTarget target) {
    var live = revisions.slot(id, workloads);
    // There is none of a ScaledService that has just been deleted.
    return (live == null ? made(id) : live).as(target);
  }

  @Override
  public CompletableFuture<Boolean> prepareScaleToZero(RevisionId id, IdleTarget target,
      Duration drain) {
    return workload(id, target).prepareToSleep(drain);
  }

  @Override
  public void cancelScaleToZero(RevisionId id, IdleTarget target) {
    workload(id, target).stayAwake();
  }

  @Override
  public CompletableFuture<ScaleApiResult> read(RevisionId id, IdleTarget target) {
    return workload(id, target).read();
  }

  @Override
  public CompletableFuture<ScaleApiResult> write(RevisionId id, IdleTarget target, Found read,
      int replicas) {
    return workload(id, target).write(read, replicas);
  }

  @Override
  public Change change(RevisionId id, IdleTarget target, int from, int to) {
    var change = workload(id, target).lastChange();
    return change == null ? ScaleClient.super.change(id, target, from, to) : change;
  }
}
