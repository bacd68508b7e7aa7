package dev.activator.ext.asleep.policy;

import dev.activator.revision.IdleState;
import dev.activator.revision.IdleState.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far one workload is with falling asleep and waking, as a value. {@link #on} gives the next state,
 * and what to do.
 *
 * @param stored the state in the ScaledService's status, as it was last read or written; null if the pods
 *     run; {@code Waking} since the same time, if this process has woken them
 * @param fall what this process has begun; null if nothing
 * @param asleep the state in which this process has put all pods to sleep, maybe after another leader;
 *     null if there is none
 * @param slept the pods that this process has put to sleep; null if they were woken or removed since, or
 *     by another leader
 */
public record IdleWorkloadState(@Nullable IdleState stored, @Nullable Fall fall,
    @Nullable IdleState asleep, @Nullable SleepingPods slept) {
  public static final IdleWorkloadState BEGIN = new IdleWorkloadState(null, null, null, null);

  /** How a status has changed since it was last read or written. */
  public enum StatusChange {
    NONE,
    BY_THIS_PROCESS,
    BY_ANOTHER_LEADER,
    /** The ScaledService was created again. Pods of the deleted one are still to be woken. */
    NEW_OBJECT
  }

  /**
   * The wait until no activator sends anything to the pods.
   *
   * @param state that is stored before
   * @param isDrain whether the pods have to go, even if requests go on
   * @param missing the activators that may still send something
   */
  public record Fall(IdleState state, boolean isDrain, List<String> missing) {}

  public sealed interface Event {
    /** The pods should fall asleep. The status is read next, and then {@link Due}. */
    record Begun(Fall fall) implements Event {}

    record Due(IdleState falling, boolean mayWrite) implements Event {}

    /** @param isLate whether activators had enough time */
    record Acknowledged(IdleState falling, List<String> missing, boolean isLate) implements Event {}

    /** The pods should stay awake, or the permission to put them to sleep has ended. */
    record Cancelled(IdleState falling) implements Event {}

    /** The status was read or written. */
    record Stored(@Nullable IdleState now, StatusChange change) implements Event {}

    /** Pods are put to sleep from now on. */
    record Sleeping(SleepingPods pods) implements Event {}

    /** All pods were put to sleep, which is stored. */
    record Slept() implements Event {}

    /** Pods have started meanwhile, and have to be put to sleep, too. */
    record Started() implements Event {}

    /** All pods were woken, which is not stored yet. From now on requests may be sent to them. */
    record Woken() implements Event {}

    /**
     * Status and scale were read.
     *
     * @param sleeps whether the ScaledService says that its pods sleep
     * @param zeroAfter how long they are asleep until they are removed; zero for no limit
     */
    record Read(int replicas, boolean sleeps, Duration zeroAfter, boolean mayWrite, Instant now)
        implements Event {}

    record Write(int replicas, boolean sleeps) implements Event {}
  }

  public sealed interface Action {
    /** The replicas are those of the scale; a write is one of the scale. */
    record None() implements Action {}

    /** The fall goes on. */
    record Wait() implements Action {}

    /** The fall was cancelled. */
    record Refuse() implements Action {}

    record Store(IdleState next) implements Action {}

    /** The pods may be put to sleep, or removed. */
    record Permit() implements Action {}

    record StayAwake(List<String> missing) implements Action {}

    /** Wakes the pods, since another leader has begun something else. */
    record Recover() implements Action {}

    /** There are no replicas, and the state stays until the pods are gone. */
    record AwaitEnd() implements Action {}

    /**
     * There are no replicas as long as the pods are asleep.
     *
     * @param repeat whether another leader may have died before all of them were
     * @param removeIn when they are to be removed; null for never
     */
    record StayAsleep(boolean repeat, @Nullable Duration removeIn) implements Action {}

    record Sleep(IdleState falling) implements Action {}

    /** Removes pods whose requests go on, as if they could not sleep. */
    record RemoveAwake() implements Action {}

    record Wake() implements Action {}
  }

  public record Step(IdleWorkloadState state, Action action) {}

  public Step on(Event event) {
    return switch (event) {
      case Event.Begun(var begun) -> step(begun, asleep, new Action.None());
      case Event.Due(var falling, var mayWrite) -> stay(!isCurrent(falling) || !mayWrite
          ? new Action.Refuse()
          : stored == null ? new Action.Store(falling) : new Action.Recover());
      case Event.Acknowledged(var falling, var missing, var isLate) when isCurrent(
          falling) && fall != null ->
        missing.isEmpty() || isLate && fall.isDrain
            ? step(new Fall(falling, fall.isDrain, missing), asleep, new Action.Permit())
            : stay(isLate ? new Action.StayAwake(missing) : new Action.Wait());
      case Event.Acknowledged _ -> stay(new Action.Refuse());
      case Event.Cancelled(var falling) -> step(isCurrent(falling) ? null : fall, asleep,
          new Action.None());
      case Event.Stored(var now, var change) -> new Step(stored(now, change), new Action.None());
      case Event.Sleeping(var pods) -> new Step(
          new IdleWorkloadState(stored, fall, asleep, pods), new Action.None());
      case Event.Slept() -> step(fall, stored, new Action.None());
      case Event.Started() -> step(fall, null, new Action.None());
      case Event.Woken() -> new Step(new IdleWorkloadState(
          stored == null ? null : new IdleState(Phase.WAKING, stored.since(), stored.method()),
          fall, null, slept), new Action.None());
      case Event.Read read -> read(read);
      case Event.Write(var replicas, var sleeps) -> step(null, asleep, write(replicas, sleeps));
    };
  }

  private IdleWorkloadState stored(@Nullable IdleState now, StatusChange change) {
    var known = switch (change) {
      case NONE, NEW_OBJECT -> slept;
      case BY_THIS_PROCESS -> now == null ? null : slept;
      case BY_ANOTHER_LEADER -> null;
    };
    return isWoken(now)
        ? new IdleWorkloadState(stored, fall, asleep, known)
        : new IdleWorkloadState(now, fall, now == null ? null : asleep, known);
  }

  private boolean isCurrent(@Nullable IdleState falling) {
    return fall != null && fall.state.equals(falling);
  }

  /** Whether this process has woken the pods of a state: here it is one in which they are not asleep. */
  private boolean isWoken(@Nullable IdleState now) {
    return now != null && stored != null && stored.phase() == Phase.WAKING
        && stored.since().equals(now.since());
  }

  private Step read(Event.Read seen) {
    if (stored == null) {
      return stay(new Action.None());
    }
    if (stored.phase() != Phase.FALLING_ASLEEP && seen.replicas == 0) {
      return stay(new Action.AwaitEnd());
    }
    if (stored.phase() == Phase.ASLEEP && seen.sleeps) {
      var left = seen.zeroAfter.isZero() || !seen.mayWrite
          ? null
          : Duration.between(seen.now, stored.since().plus(seen.zeroAfter));
      return stay(new Action.StayAsleep(seen.mayWrite && !isAsleep(), left));
    }
    return stay(isCurrent(stored) || !seen.mayWrite ? new Action.None() : new Action.Recover());
  }

  private Action write(int replicas, boolean sleeps) {
    if (replicas > 0 || !sleeps) {
      return stored == null ? new Action.None() : new Action.Wake();
    }
    if (fall == null || !fall.state.equals(stored)) {
      return new Action.Refuse();
    }
    return fall.missing.isEmpty() ? new Action.Sleep(fall.state) : new Action.RemoveAwake();
  }

  /** Whether this process has put all pods to sleep, and has woken none since. */
  public boolean isAsleep() {
    return asleep != null && asleep.equals(stored);
  }

  private Step stay(Action action) {
    return new Step(this, action);
  }

  private Step step(@Nullable Fall nextFall, @Nullable IdleState nextAsleep, Action action) {
    return new Step(new IdleWorkloadState(stored, nextFall, nextAsleep, slept), action);
  }
}
