package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.ext.asleep.policy.IdleWorkloadState.Action;
import dev.activator.ext.asleep.policy.IdleWorkloadState.Event;
import dev.activator.ext.asleep.policy.IdleWorkloadState;
import dev.activator.loop.ResettableTimer;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.StatusField;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.IdleState.Phase;
import dev.activator.revision.IdleState;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleClient.Change;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One workload whose last pods fall asleep and wake: carries out what its {@link IdleWorkloadState}
 * decides. Each step is stored in the ScaledService's status before it is taken, so that a later leader
 * finishes it.
 *
 * <p><b>Threads.</b> The autoscaler's loop. The steps are taken one after another.
 */
final class IdleWorkload {
  private static final Logger log = LoggerFactory.getLogger(IdleWorkload.class);
  private static final Duration END_POLL = Duration.ofMillis(500);
  private static final Duration RETRY = Duration.ofSeconds(30);
  /** A pod that starts meanwhile, such as after a crash, is ready and awake no longer than that. */
  private static final Duration CHECK = Duration.ofSeconds(5);
  /** Kubernetes lists pods of a lost node as ready for 50 s, and the last leader may have been there. */
  private static final Duration NODE_LOSS = Duration.ofSeconds(60);

  private final IdleMethod.Environment environment;
  private final IdleProgress progress;
  private final IdleScale scale;
  private final IdlePods pods;
  private final SleepPreparation preparation;
  /**
   * Reads it again, because its pods may have been asleep for long enough, may have ended, or may not have
   * been brought to run.
   */
  private final ResettableTimer rereads;
  private final ResettableTimer checks;
  /** Until when pods that do not fall asleep again may be on a node that was lost, in the loop's time. */
  private long mayBeLostUntil;
  /** What the last write has done; null if it has set the replicas. */
  private @Nullable Change lastChange;

  /** @param methods by the field {@code do} */
  IdleWorkload(RevisionId id, IdleMethod.Environment environment, StatusField<IdleState> states,
      Map<String, PodSleep> methods) {
    this.environment = environment;
    this.progress = new IdleProgress(id, environment, states);
    this.scale = new IdleScale(environment, progress);
    this.pods = new IdlePods(environment, progress, methods);
    this.rereads = new ResettableTimer(environment.loop(), this::reread);
    this.checks = new ResettableTimer(environment.loop(), this::check);
    this.preparation = new SleepPreparation(environment, progress, this::recover,
        () -> rereads.within(END_POLL));
    this.mayBeLostUntil = environment.loop().nanoTime();
  }

  IdleWorkload as(IdleTarget now) {
    progress.setTarget(now);
    return this;
  }

  private IdleTarget target() {
    return progress.target();
  }

  private boolean keepsAsleep() {
    return !target().method().isEmpty();
  }

  private boolean isAsleep() {
    return progress.state().isAsleep();
  }

  private boolean mayWrite() {
    return progress.mayWrite();
  }

  /**
   * Completes with whether the pods may be put to sleep, or removed.
   *
   * @param drain how long requests in flight may go on before the pods are removed instead; zero if the
   *     pods stay awake then
   */
  CompletableFuture<Boolean> prepareToSleep(Duration drain) {
    return keepsAsleep()
        ? preparation.begin(progress.phase(Phase.FALLING_ASLEEP, target().method()), drain)
        : done(true);
  }

  /** Sends requests to the pods again, if they were not put to sleep. */
  void stayAwake() {
    preparation.cancel();
  }

  CompletableFuture<ScaleApiResult> read() {
    return progress.step(() -> progress.read().thenCombine(scale.read(), Read::new)
        .thenComposeAsync(this::interpret, environment.loop()));
  }

  private record Read(@Nullable Refused refusal, ScaleApiResult scale) {}

  private void reread() {
    if (!progress.isEnded()) {
      rereads.within(RETRY);
      var _ = read();
    }
  }

  /** Puts pods to sleep that have started meanwhile. */
  private void check() {
    if (!isAsleep() || progress.isEnded()) {
      return;
    }
    checks.within(CHECK);
    if (mayWrite()) {
      var _ = pods.list().thenAcceptAsync(listed -> {
        var started = pods.started(listed);
        if (isAsleep() && !started.isEmpty()) {
          progress.happened(true, "SleepsAgain",
              target() + " has pods that started while it was asleep, such as after a crash, and"
                  + " are put to sleep: " + started);
          progress.on(new Event.Started());
          reread();
        }
      }, environment.loop());
    }
  }

  private CompletableFuture<ScaleApiResult> interpret(Read read) {
    if (read.refusal != null) {
      return done(read.refusal);
    }
    if (!(read.scale instanceof Found found)) {
      return done(read.scale);
    }
    rereads.cancel();
    var seen = new Event.Read(found.replicas(), keepsAsleep(), target().zeroAfter(), mayWrite(),
        environment.now());
    switch (progress.on(seen)) {
      case Action.AwaitEnd() -> {
        return awaitEnd(found);
      }
      case Action.StayAsleep(boolean repeat, var removeIn) -> {
        var asleep = Objects.requireNonNull(progress.state().stored());
        if (repeat) {
          var _ = progress.step(() -> sleepAgain(asleep));
        }
        checks.within(CHECK);
        removeIn(asleep, removeIn);
        return done(new Found(0, 0, found.resourceVersion()));
      }
      case Action.Recover() -> {
        rereads.within(RETRY);
        var _ = progress.step(this::recover);
      }
      default -> {
      }
    }
    return done(found);
  }

  /** Brings a workload to run that is in a state which this process has not begun. */
  private CompletableFuture<ScaleApiResult> recover() {
    return scale.with(this::wake);
  }

  /** Pods that are not ready yet are put to sleep once they are. */
  private CompletableFuture<String> sleepAgain(IdleState asleep) {
    return pods.list().thenComposeAsync(listed -> {
      if (listed == null) {
        rereads.within(CHECK);
        return done("");
      }
      if (!asleep.equals(progress.state().stored()) || isAsleep() || !mayWrite()) {
        return done("");
      }
      if (progress.state().slept() == null) {
        mayBeLostUntil = environment.loop().nanoTime() + NODE_LOSS.toNanos();
      }
      return pods.sleep(asleep, listed, listed.ready()).thenComposeAsync(problem -> {
        if (problem.isEmpty()) {
          progress.on(new Event.Slept());
          return done(problem);
        }
        rereads.within(RETRY);
        if (environment.loop().nanoTime() - mayBeLostUntil < 0) {
          // All of them would be removed, since one that is lost cannot be woken either.
          log.warn("{}: {} may not be asleep: {}", progress.id(), target(), problem);
          return done(problem);
        }
        progress.happened(true, "StaysAwake", target() + " does not fall asleep again: " + problem);
        return recover().thenApply(_ -> problem);
      }, environment.loop());
    }, environment.loop());
  }

  /** Removes pods that have been asleep for long enough, and tries again while that fails. */
  private void removeIn(IdleState asleep, @Nullable Duration left) {
    if (left != null) {
      rereads.within(left.isPositive() ? left : RETRY);
      if (!left.isPositive()) {
        var _ = progress.step(() -> environment.leadership().confirmed()
            .thenComposeAsync(
                leads -> leads && mayWrite() && asleep.equals(progress.state().stored())
                    ? remove("it was asleep for " + target().zeroAfter().toSeconds() + " s")
                    : done(new Refused(Reason.CONFLICT, target() + " was woken")),
                environment.loop()));
      }
    }
  }

  private CompletableFuture<ScaleApiResult> remove(String why) {
    return scale.with(read -> read.replicas() > 0 ? scale.write(read, 0) : done(read))
        .thenComposeAsync(written -> {
          if (!(written instanceof Found now)) {
            log.warn("{}: {} that is asleep cannot be removed: {}", progress.id(), target(),
                written);
            return done(written);
          }
          progress.happened(false, "ScaledToZero", target() + " goes to 0: " + why);
          return awaitEnd(now);
        }, environment.loop());
  }

  /**
   * Waits until the pods that were asleep are gone: one that is terminating may get requests if there is
   * no other.
   */
  private CompletableFuture<ScaleApiResult> awaitEnd(Found now) {
    return pods.list().thenComposeAsync(listed -> {
      if (IdlePods.areGone(listed, now) && mayWrite()) {
        rereads.within(RETRY);
        return replace(null, () -> done(now));
      }
      if (mayWrite()) {
        rereads.within(END_POLL);
      }
      return done(new Found(0, 0, now.resourceVersion()));
    }, environment.loop());
  }

  CompletableFuture<ScaleApiResult> write(Found read, int replicas) {
    lastChange = null;
    return progress.step(() -> switch (progress.on(new Event.Write(replicas, keepsAsleep()))) {
      case Action.Sleep(var falling) -> putToSleep(falling, read);
      case Action.RemoveAwake() -> {
        lastChange = new Change("ScaledToZero", "goes from " + read.replicas()
            + " to 0, because its requests did not end before timeoutSeconds", "scale");
        yield replace(null, () -> scale.write(read, 0));
      }
      case Action.Wake() -> pods.list().thenComposeAsync(listed -> {
        var known = scale.last();
        // Without a pod, another client may have scaled to zero since the scale was read.
        return isEmpty(listed) || known == null || known.replicas() == 0
            ? scale.with(now -> wakeTo(now, listed, replicas))
            : wakeTo(known, listed, replicas);
      }, environment.loop());
      case Action.None() -> scale.write(read, replicas);
      default -> done(new Refused(Reason.CONFLICT,
          "cannot put " + target() + " to sleep: requests may be sent to it again"));
    });
  }

  /** What the last write has done; null if it has set the replicas. */
  @Nullable Change lastChange() {
    return lastChange;
  }

  /** The ScaledService is deleted, so nothing would wake its pods later. */
  void onEnd() {
    rereads.cancel();
    checks.cancel();
    var _ = progress.step(() -> {
      var woken = pods.wakeSlept();
      progress.end();
      return woken;
    }).thenAccept(problem -> {
      if (!problem.isEmpty()) {
        log.warn("{}: pods stay asleep, and their ScaledService is deleted: {}", progress.id(),
            problem);
      }
    });
  }

  private CompletableFuture<ScaleApiResult> putToSleep(IdleState falling, Found read) {
    // One that has not started yet has nothing that could be kept.
    return pods.list().thenComposeAsync(listed -> listed != null && listed.all().isEmpty()
        && mayWrite()
            ? replace(null, () -> scale.write(read, 0))
            : putToSleep(falling, read, listed),
        environment.loop());
  }

  private CompletableFuture<ScaleApiResult> putToSleep(IdleState falling, Found read,
      @Nullable PodsByReadiness listed) {
    var all = listed == null ? DestinationSet.NONE : listed.all();
    return pods.sleep(falling, listed, all).thenComposeAsync(problem -> {
      if (!problem.isEmpty()) {
        return wake(read).thenApply(_ -> new Refused(Reason.UNAVAILABLE,
            "cannot put " + target() + " to sleep: " + problem));
      }
      var asleep = progress.phase(Phase.ASLEEP, falling.method());
      return replace(asleep, () -> {
        progress.on(new Event.Slept());
        checks.within(CHECK);
        removeIn(asleep, target().zeroAfter().isZero() ? null : target().zeroAfter());
        lastChange = new Change("FellAsleep", "falls asleep with " + replicas(read.replicas()),
            falling.method());
        return done(new Found(0, 0, read.resourceVersion()));
      });
    }, environment.loop());
  }

  /** Wakes the pods, and then sets their number, if it is another one. */
  private CompletableFuture<ScaleApiResult> wakeTo(Found now, @Nullable PodsByReadiness listed,
      int replicas) {
    var before = Objects.requireNonNull(progress.state().stored()).method();
    if (now.replicas() == 0) {
      return IdlePods.areGone(listed, now)
          ? replace(null, () -> scale.write(now, replicas))
          : done(new Refused(Reason.UNAVAILABLE,
              target() + " starts again when the pods that were asleep have ended"));
    }
    return pods.wake(now, listed, this::notAwake)
        .thenCompose(woken -> {
          if (!(woken instanceof Found)) {
            return done(woken);
          }
          var what = "wakes with " + replicas(now.replicas());
          lastChange = new Change("Woken",
              now.replicas() == replicas ? what : what + ", and goes to " + replicas, before);
          return now.replicas() == replicas ? done(woken) : scale.write(now, replicas);
        });
  }

  private static boolean isEmpty(@Nullable PodsByReadiness pods) {
    return pods == null || pods.all().isEmpty();
  }

  private static String replicas(int count) {
    return count == 1 ? "1 replica" : count + " replicas";
  }

  /** If the pods cannot be woken, they are removed. */
  private CompletableFuture<ScaleApiResult> wake(Found now) {
    return pods.list().thenComposeAsync(listed -> pods.wake(now, listed, this::notAwake),
        environment.loop());
  }

  private CompletableFuture<ScaleApiResult> notAwake(String problem) {
    var why = target() + " could not be woken, and gets new pods: " + problem;
    progress.happened(true, "WakeFailed", why);
    return remove("it could not be woken").thenApply(_ -> new Refused(Reason.UNAVAILABLE, why));
  }

  private CompletableFuture<ScaleApiResult> replace(@Nullable IdleState next,
      Supplier<CompletableFuture<ScaleApiResult>> then) {
    return progress.replace(next)
        .thenCompose(refusal -> refusal == null ? then.get() : done(refusal));
  }

  private static <T extends @Nullable Object> CompletableFuture<T> done(T value) {
    return CompletableFuture.completedFuture(value);
  }
}
