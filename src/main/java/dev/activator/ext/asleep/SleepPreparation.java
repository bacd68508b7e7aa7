package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleWorkloadState.Action;
import dev.activator.ext.asleep.policy.IdleWorkloadState.Event;
import dev.activator.ext.asleep.policy.IdleWorkloadState.Fall;
import dev.activator.platform.IdleMethod;
import dev.activator.revision.IdleState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Waits until no activator sends anything to the pods of one workload, before they are put to sleep.
 *
 * <p><b>Threads.</b> The autoscaler's loop.
 */
final class SleepPreparation {
  /** How long the permission to put pods to sleep holds. */
  private static final Duration PERMISSION = Duration.ofSeconds(30);
  /** Requests that arrive while activators acknowledge wait no longer than that. */
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final Duration POLL = Duration.ofMillis(20);

  private final IdleMethod.Environment environment;
  private final IdleProgress progress;
  private final Supplier<CompletableFuture<?>> recovery;
  private final Runnable retry;

  /**
   * @param recovery brings the workload to run, if another leader has begun something else
   * @param retry makes a later read bring it to run, because that could not be stored
   */
  SleepPreparation(IdleMethod.Environment environment, IdleProgress progress,
      Supplier<CompletableFuture<?>> recovery, Runnable retry) {
    this.environment = environment;
    this.progress = progress;
    this.recovery = recovery;
    this.retry = retry;
  }

  /**
   * Completes with whether the pods may be put to sleep, or removed.
   *
   * @param falling the state that activators acknowledge
   * @param drain how long requests in flight may go on before the pods are removed instead; zero if the
   *     pods stay awake then
   */
  CompletableFuture<Boolean> begin(IdleState falling, Duration drain) {
    progress.on(new Event.Begun(new Fall(falling, !drain.isZero(), List.of())));
    return progress.step(() -> progress.read().thenCompose(refusal -> {
      var action = refusal == null
          ? progress.on(new Event.Due(falling, progress.mayWrite()))
          : new Action.Refuse();
      return switch (action) {
        case Action.Store(var next) -> progress.replace(next).thenApply(refused -> refused == null);
        case Action.Recover() -> recovery.get().thenApply(_ -> false);
        default -> CompletableFuture.completedFuture(false);
      };
    })).thenCompose(isStored -> {
      var end = new CompletableFuture<Boolean>();
      if (isStored) {
        long now = environment.loop().nanoTime();
        var timeout = drain.compareTo(TIMEOUT) > 0 ? drain : TIMEOUT;
        awaitUnused(falling, now, now + timeout.toNanos(), end);
      } else {
        progress.on(new Event.Cancelled(falling));
        end.complete(false);
      }
      return end;
    });
  }

  private void awaitUnused(IdleState falling, long written, long deadline,
      CompletableFuture<Boolean> end) {
    var missing = environment.unacknowledged(progress.id(), falling, written);
    boolean isLate = environment.loop().nanoTime() - deadline >= 0;
    switch (progress.on(new Event.Acknowledged(falling, missing, isLate))) {
      case Action.Wait() -> environment.loop().schedule(POLL,
          () -> awaitUnused(falling, written, deadline, end));
      case Action.Permit() -> {
        environment.loop().schedule(PERMISSION, () -> cancel(falling));
        end.complete(true);
      }
      case Action.StayAwake(var late) -> {
        progress.happened(true, "StaysAwake", progress.target()
            + " stays awake: requests may still be sent to it by " + String.join(", ", late));
        cancel(falling);
        end.complete(false);
      }
      default -> end.complete(false);
    }
  }

  /** Sends requests to the pods again, if they were not put to sleep. */
  void cancel() {
    var fall = progress.state().fall();
    if (fall != null) {
      cancel(fall.state());
    }
  }

  private void cancel(IdleState falling) {
    var fall = progress.state().fall();
    if (fall == null || !fall.state().equals(falling)) {
      return;
    }
    progress.on(new Event.Cancelled(falling));
    var _ = progress.step(() -> falling.equals(progress.state().stored())
        ? progress.replace(null).thenAccept(refusal -> {
          if (refusal != null) {
            retry.run();
          }
        })
        : CompletableFuture.<Void>completedFuture(null));
  }
}
