package dev.activator.standalone.autoscaler.policy;

import dev.activator.revision.ScaleApiResult.Found;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The state of the task that reads and writes the scale of one workload, as a value. {@link #on}
 * gives the next state, and what to do.
 *
 * @param scale as it was last read or written; null if it must be read
 * @param isFresh whether the scale was just read. It is written only after a fresh read, except from
 *     zero: a write names the version that was read, so that it is refused if another client wrote.
 *     While it is read, whether the read began after the last change by others.
 * @param unwritten the present replicas while a write of another number is pending; empty if none
 *     is pending
 */
public record ScaleTaskState(Phase phase, @Nullable Found scale, boolean isFresh,
    OptionalInt unwritten) {
  public static final ScaleTaskState BEGIN = new ScaleTaskState(Phase.IDLE, null, false,
      OptionalInt.empty());

  /** The request that is under way. */
  public enum Phase {
    IDLE,
    READING,
    CONFIRMING,
    WRITING
  }

  /** Whether the last pods may be removed. */
  public enum ZeroPermission {
    NOT_REQUESTED,
    REQUESTED,
    GRANTED,
    REFUSED
  }

  /**
   * What limits the next write.
   *
   * @param mayWrite whether this activator leads
   * @param isWriteRefused whether the last write was refused, and none has succeeded since
   * @param confirmationPause the nanoseconds until fewer replicas may be written
   */
  public record Limits(boolean mayWrite, boolean isWriteRefused, long confirmationPause,
      ZeroPermission zero) {}

  public sealed interface Event {
    /** Another client may have changed the scale. */
    record Stale() implements Event {}

    /**
     * Something has changed, or a pause has ended.
     *
     * @param write the replicas to write; empty if nothing is to be written, or the scale must be
     *     read first
     */
    record Due(OptionalInt write, Limits limits) implements Event {}

    /** The request has ended. The event of its result follows. */
    record Ended() implements Event {}

    record WasRead(Found scale) implements Event {}

    /** It was confirmed that this activator leads, and the same write is still wanted. */
    record Confirmed() implements Event {}

    record Written(Found scale) implements Event {}

    record ReadRefused() implements Event {}

    /** @param present the replicas that the workload has */
    record WriteRefused(int present) implements Event {}
  }

  public sealed interface Action {
    record None() implements Action {}

    /** A fresh read shows that nothing is to be written. */
    record ForgetFailures() implements Action {}

    record Read() implements Action {}

    record Wait(long nanos) implements Action {}

    record WaitUntilLeader() implements Action {}

    /** Requests that the last pods may be removed. The same {@link Event.Due} follows. */
    record RequestZero() implements Action {}

    /** Keeps the last pods, because their removal is not permitted. */
    record KeepLastPods() implements Action {}

    record Confirm(Found scale, int replicas) implements Action {}

    record Write(Found scale, int replicas) implements Action {}
  }

  public record Step(ScaleTaskState state, Action action) {}

  public Step on(Event event) {
    return switch (event) {
      case Event.Stale() -> step(phase, null, false, unwritten);
      case Event.Due(var write, var limits) -> due(write, limits);
      case Event.Ended() -> step(Phase.IDLE, scale, isFresh, unwritten);
      case Event.WasRead(var found) -> step(phase, isFresh ? found : null, isFresh, unwritten);
      case Event.Confirmed() -> step(Phase.WRITING, scale, isFresh, unwritten);
      case Event.Written(var found) -> step(phase, found, isFresh, OptionalInt.empty());
      case Event.ReadRefused() -> step(phase, null, false, unwritten);
      case Event.WriteRefused(var present) -> step(phase, null, false, OptionalInt.of(present));
    };
  }

  private Step due(OptionalInt write, Limits limits) {
    if (phase != Phase.IDLE) {
      return new Step(this, new Action.None());
    }
    var found = scale;
    if (found == null) {
      return new Step(new ScaleTaskState(Phase.READING, null, true, unwritten),
          new Action.Read());
    }
    // The desired number may be published before a write that is sent at once. A write of fewer
    // replicas may have to wait, and so may one after a refusal.
    boolean isSentAtOnce = write.isEmpty() || write.getAsInt() > found.replicas()
        && !limits.isWriteRefused && limits.mayWrite;
    var pending = isSentAtOnce ? OptionalInt.empty() : OptionalInt.of(found.replicas());
    var action = action(found, write, limits);
    return switch (action) {
      case Action.Read _ -> new Step(new ScaleTaskState(Phase.READING, found, true, pending),
          action);
      case Action.Confirm _ ->
        new Step(new ScaleTaskState(Phase.CONFIRMING, found, false, pending), action);
      case Action.Write _ -> new Step(new ScaleTaskState(Phase.WRITING, found, false, pending),
          action);
      // The permission may be there at once.
      case Action.RequestZero _ ->
        new Step(new ScaleTaskState(Phase.IDLE, found, isFresh, pending), action);
      default -> new Step(new ScaleTaskState(Phase.IDLE, found, false, pending), action);
    };
  }

  private Action action(Found found, OptionalInt write, Limits limits) {
    if (write.isEmpty()) {
      return isFresh ? new Action.ForgetFailures() : new Action.None();
    }
    int replicas = write.getAsInt();
    boolean shrinks = replicas < found.replicas();
    if (shrinks && limits.confirmationPause > 0) {
      return new Action.Wait(limits.confirmationPause);
    }
    if (!limits.mayWrite) {
      return new Action.WaitUntilLeader();
    }
    if (replicas == 0 && limits.zero != ZeroPermission.GRANTED) {
      return switch (limits.zero) {
        case NOT_REQUESTED -> new Action.RequestZero();
        case REFUSED -> new Action.KeepLastPods();
        case REQUESTED, GRANTED -> new Action.None();
      };
    }
    if (!isFresh && found.replicas() > 0) {
      return new Action.Read();
    }
    return shrinks ? new Action.Confirm(found, replicas) : new Action.Write(found, replicas);
  }

  private static Step step(Phase phase, @Nullable Found scale, boolean isFresh,
      OptionalInt unwritten) {
    return new Step(new ScaleTaskState(phase, scale, isFresh, unwritten), new Action.None());
  }
}
