package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.ext.asleep.policy.IdleWorkloadState.Action;
import dev.activator.ext.asleep.policy.IdleWorkloadState.Event;
import dev.activator.ext.asleep.policy.IdleWorkloadState.Fall;
import dev.activator.ext.asleep.policy.IdleWorkloadState;
import dev.activator.ext.asleep.policy.SleepingPods;
import dev.activator.loop.ResettableTimer;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.StatusField.Stored;
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
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
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
  /** How long the permission to put pods to sleep holds. */
  private static final Duration PERMISSION = Duration.ofSeconds(30);
  /** Requests that arrive while activators acknowledge wait no longer than that. */
  private static final Duration FALL_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration FALL_POLL = Duration.ofMillis(20);
  private static final Duration END_POLL = Duration.ofMillis(500);
  private static final Duration RETRY = Duration.ofSeconds(30);
  /** A pod that starts meanwhile, such as after a crash, is ready and awake no longer than that. */
  private static final Duration CHECK = Duration.ofSeconds(5);
  /** Kubernetes lists pods of a lost node as ready for 50 s, and the last leader may have been there. */
  private static final Duration NODE_LOSS = Duration.ofSeconds(60);

  private final RevisionId id;
  private final IdleMethod.Environment environment;
  private final StatusField<IdleState> states;
  private final Map<String, PodSleep> methods;
  /**
   * Reads it again, because its pods may have been asleep for long enough, may have ended, or may not have
   * been brought to run.
   */
  private final ResettableTimer rereads;
  private final ResettableTimer checks;
  private IdleWorkloadState state = IdleWorkloadState.BEGIN;
  /** What the status was read as; null before. */
  private @Nullable Stored<IdleState> status;
  /** The scale as it was last read; null before. */
  private @Nullable Found scale;
  /** Completes when the last step has ended. */
  private CompletableFuture<?> last = done(true);
  /** As the ScaledService has it now. */
  private @Nullable IdleTarget target;
  /** What this process has put to sleep; null if they were woken or removed since, or by another leader. */
  private @Nullable SleepingPods slept;
  /** Until when pods that do not fall asleep again may be on a node that was lost, in the loop's time. */
  private long mayBeLostUntil;
  /** Whether the ScaledService is deleted. */
  private boolean isEnded;
  /** What the last write has done; null if it has set the replicas. */
  private @Nullable Change lastChange;

  /** @param methods by the field {@code do} */
  IdleWorkload(RevisionId id, IdleMethod.Environment environment, StatusField<IdleState> states,
      Map<String, PodSleep> methods) {
    this.id = id;
    this.environment = environment;
    this.states = states;
    this.methods = methods;
    this.rereads = new ResettableTimer(environment.loop(), this::reread);
    this.checks = new ResettableTimer(environment.loop(), this::check);
    this.mayBeLostUntil = environment.loop().nanoTime();
  }

  IdleWorkload as(IdleTarget now) {
    target = now;
    return this;
  }

  private IdleTarget target() {
    return Objects.requireNonNull(target);
  }

  private boolean keepsAsleep() {
    return !target().method().isEmpty();
  }

  private Action on(Event event) {
    var step = state.on(event);
    state = step.state();
    return step.action();
  }

  /** Takes a step once those before it have ended. It ends on the loop. */
  private <T> CompletableFuture<T> step(Supplier<CompletableFuture<T>> begin) {
    var step = last.handle((_, _) -> true).thenComposeAsync(_ -> begin.get(), environment.loop());
    last = step;
    return step.whenComplete((_, failure) -> {
      if (failure != null) {
        log.error("A step of {} failed, which falls asleep or wakes", id, failure);
      }
    });
  }

  /**
   * Keeps the status on the loop. One that could not be read stays as it was.
   *
   * @param expected what it is if no other leader has written it
   */
  private CompletableFuture<@Nullable Refused> kept(CompletableFuture<Stored<IdleState>> answer,
      @Nullable IdleState expected) {
    return answer.thenApplyAsync(now -> {
      if (now.refusal() == null) {
        // Those of a ScaledService that was deleted since are still to be woken.
        boolean isSame = status != null && status.uid().equals(now.uid());
        if (isSame && !Objects.equals(now.value(), expected)) {
          slept = null;
        }
        status = now;
        on(new Event.Stored(now.value()));
      }
      return now.refusal();
    }, environment.loop());
  }

  /** @param next null if its pods run */
  private CompletableFuture<@Nullable Refused> replace(@Nullable IdleState next) {
    return kept(states.replace(id, Objects.requireNonNull(status, "not read"), next), next)
        .thenApply(refusal -> {
          slept = refusal == null && next == null ? null : slept;
          return refusal;
        });
  }

  private CompletableFuture<@Nullable Refused> readStatus() {
    return kept(states.get(id), status == null ? null : status.value());
  }

  private CompletableFuture<ScaleApiResult> replace(@Nullable IdleState next,
      Supplier<CompletableFuture<ScaleApiResult>> then) {
    return replace(next).thenCompose(refusal -> refusal == null ? then.get() : done(refusal));
  }

  /**
   * Completes with whether the pods may be put to sleep, or removed.
   *
   * @param drain how long requests in flight may go on before the pods are removed instead; zero if the
   *     pods stay awake then
   */
  CompletableFuture<Boolean> prepareToSleep(Duration drain) {
    if (!keepsAsleep()) {
      return done(true);
    }
    var falling = phase(Phase.FALLING_ASLEEP, target().method());
    on(new Event.Begun(new Fall(falling, !drain.isZero(), List.of())));
    return step(() -> readStatus().thenCompose(refusal -> {
      var action = refusal == null ? on(new Event.Due(falling, mayWrite())) : new Action.Refuse();
      return switch (action) {
        case Action.Store(var next) -> replace(next).thenApply(refused -> refused == null);
        case Action.Recover() -> recover().thenApply(_ -> false);
        default -> done(false);
      };
    })).thenCompose(isStored -> {
      if (!isStored) {
        on(new Event.Cancelled(falling));
        return done(false);
      }
      var end = new CompletableFuture<Boolean>();
      long now = environment.loop().nanoTime();
      var timeout = drain.compareTo(FALL_TIMEOUT) > 0 ? drain : FALL_TIMEOUT;
      awaitUnused(falling, now, now + timeout.toNanos(), end);
      return end;
    });
  }

  private void awaitUnused(IdleState falling, long written, long deadline,
      CompletableFuture<Boolean> end) {
    var missing = environment.unacknowledged(id, falling, written);
    boolean isLate = environment.loop().nanoTime() - deadline >= 0;
    switch (on(new Event.Acknowledged(falling, missing, isLate))) {
      case Action.Wait() -> environment.loop().schedule(FALL_POLL,
          () -> awaitUnused(falling, written, deadline, end));
      case Action.Permit() -> {
        environment.loop().schedule(PERMISSION, () -> cancel(falling));
        end.complete(true);
      }
      case Action.StayAwake(var late) -> {
        happened(true, "StaysAwake", target() + " stays awake: requests may still be sent to it by "
            + String.join(", ", late));
        cancel(falling);
        end.complete(false);
      }
      default -> end.complete(false);
    }
  }

  /** Sends requests to the pods again, if they were not put to sleep. */
  void stayAwake() {
    if (state.fall() != null) {
      cancel(state.fall().state());
    }
  }

  private void cancel(IdleState falling) {
    if (state.fall() != null && state.fall().state().equals(falling)) {
      on(new Event.Cancelled(falling));
      var _ = step(() -> falling.equals(state.stored()) ? replace(null) : done(null))
          .thenAccept(refusal -> {
            if (refusal != null) {
              rereads.within(END_POLL);
            }
          });
    }
  }

  CompletableFuture<ScaleApiResult> read() {
    return step(() -> readStatus().thenCombine(readScale(), Read::new)
        .thenComposeAsync(this::interpret, environment.loop()));
  }

  private record Read(@Nullable Refused refusal, ScaleApiResult scale) {}

  private void reread() {
    if (!isEnded) {
      rereads.within(RETRY);
      var _ = read();
    }
  }

  /** Puts pods to sleep that have started meanwhile. */
  private void check() {
    if (!isAsleep() || isEnded) {
      return;
    }
    checks.within(CHECK);
    if (mayWrite()) {
      var _ = pods().thenAcceptAsync(pods -> {
        var known = slept;
        var started = pods == null || known == null ? DestinationSet.NONE : known.started(pods);
        if (isAsleep() && !started.isEmpty()) {
          happened(true, "SleepsAgain",
              target() + " has pods that started while it was asleep, such"
                  + " as after a crash, and are put to sleep: " + started);
          on(new Event.Started());
          reread();
        }
      }, environment.loop());
    }
  }

  /** Whether this process has put all pods to sleep, and has woken none since. */
  private boolean isAsleep() {
    return state.asleep() != null && state.asleep().equals(state.stored());
  }

  private CompletableFuture<ScaleApiResult> interpret(Read read) {
    if (read.refusal != null) {
      return done(read.refusal);
    }
    if (!(read.scale instanceof Found found)) {
      return done(read.scale);
    }
    rereads.cancel();
    switch (on(new Event.Read(found.replicas(), keepsAsleep(), target().zeroAfter(), mayWrite(),
        environment.now()))) {
      case Action.AwaitEnd() -> {
        return awaitEnd(found);
      }
      case Action.StayAsleep(boolean repeat, var removeIn) -> {
        var asleep = Objects.requireNonNull(state.stored());
        if (repeat) {
          var _ = step(() -> sleepAgain(asleep));
        }
        checks.within(CHECK);
        removeIn(asleep, removeIn);
        return done(new Found(0, 0, found.resourceVersion()));
      }
      case Action.Recover() -> {
        rereads.within(RETRY);
        var _ = step(this::recover);
      }
      default -> {
      }
    }
    return done(found);
  }

  /** Brings a workload to run that is in a state which this process has not begun. */
  private CompletableFuture<ScaleApiResult> recover() {
    return withScale(this::wake);
  }

  /** Pods that are not ready yet are put to sleep once they are. */
  private CompletableFuture<String> sleepAgain(IdleState asleep) {
    return pods().thenComposeAsync(pods -> {
      if (pods == null) {
        rereads.within(CHECK);
        return done("");
      }
      if (!asleep.equals(state.stored()) || isAsleep() || !mayWrite()) {
        return done("");
      }
      if (slept == null) {
        mayBeLostUntil = environment.loop().nanoTime() + NODE_LOSS.toNanos();
      }
      return sleep(asleep, pods, pods.ready()).thenComposeAsync(problem -> {
        if (problem.isEmpty()) {
          on(new Event.Slept());
          return done(problem);
        }
        rereads.within(RETRY);
        if (environment.loop().nanoTime() - mayBeLostUntil < 0) {
          // All of them would be removed, since one that is lost cannot be woken either.
          log.warn("{}: {} may not be asleep: {}", id, target(), problem);
          return done(problem);
        }
        happened(true, "StaysAwake", target() + " does not fall asleep again: " + problem);
        return recover().thenApply(_ -> problem);
      }, environment.loop());
    }, environment.loop());
  }

  /** Removes pods that have been asleep for long enough, and tries again while that fails. */
  private void removeIn(IdleState asleep, @Nullable Duration left) {
    if (left != null) {
      rereads.within(left.isPositive() ? left : RETRY);
      if (!left.isPositive()) {
        var _ = step(() -> environment.leadership().confirmed()
            .thenComposeAsync(leads -> leads && mayWrite() && asleep.equals(state.stored())
                ? remove("it was asleep for " + target().zeroAfter().toSeconds() + " s")
                : done(new Refused(Reason.CONFLICT, target() + " was woken")),
                environment.loop()));
      }
    }
  }

  private CompletableFuture<ScaleApiResult> remove(String why) {
    return withScale(read -> read.replicas() > 0 ? scaleTo(read, 0) : done(read))
        .thenComposeAsync(written -> {
          if (!(written instanceof Found now)) {
            log.warn("{}: {} that is asleep cannot be removed: {}", id, target(), written);
            return done(written);
          }
          happened(false, "ScaledToZero", target() + " goes to 0: " + why);
          return awaitEnd(now);
        }, environment.loop());
  }

  /**
   * Waits until the pods that were asleep are gone: one that is terminating may get requests if there is
   * no other.
   */
  private CompletableFuture<ScaleApiResult> awaitEnd(Found now) {
    return pods().thenComposeAsync(pods -> {
      if (areGone(pods, now) && mayWrite()) {
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
    return step(() -> switch (on(new Event.Write(replicas, keepsAsleep()))) {
      case Action.Sleep(var falling) -> putToSleep(falling, read);
      case Action.RemoveAwake() -> {
        lastChange = new Change("ScaledToZero", "goes from " + read.replicas()
            + " to 0, because its requests did not end before timeoutSeconds", "scale");
        yield replace(null, () -> scaleTo(read, 0));
      }
      case Action.Wake() -> pods().thenComposeAsync(
          // Without a pod, another client may have scaled to zero since the scale was read.
          pods -> isEmpty(pods) || scale == null || scale.replicas() == 0
              ? withScale(now -> wakeTo(now, pods, replicas))
              : wakeTo(scale, pods, replicas),
          environment.loop());
      case Action.None() -> scaleTo(read, replicas);
      default -> done(new Refused(Reason.CONFLICT,
          "cannot put " + target() + " to sleep: requests may be sent to it again"));
    });
  }

  /** What the last write has done; null if it has set the replicas. */
  @Nullable Change lastChange() {
    return lastChange;
  }

  /** @param which of the pods are put to sleep */
  private CompletableFuture<String> sleep(IdleState now, @Nullable PodsByReadiness pods,
      DestinationSet which) {
    if (isEnded) {
      return done("its ScaledService is deleted");
    }
    if (pods == null) {
      return done("its Service does not show which pods there are");
    }
    if (!mayWrite()) {
      return done("this activator does not lead any more");
    }
    slept = SleepingPods.of(slept, pods, which, target(), now);
    return method(now).sleep(id, which.all(), target());
  }

  /** The ScaledService is deleted, so nothing would wake its pods later. */
  void onEnd() {
    rereads.cancel();
    checks.cancel();
    var _ = step(() -> {
      var asleep = mayWrite() ? slept : null;
      isEnded = true;
      return asleep != null
          ? method(asleep.state()).wake(id, asleep.pods().all().all(), asleep.target())
          : done("");
    }).thenAccept(problem -> {
      if (!problem.isEmpty()) {
        log.warn("{}: pods stay asleep, and their ScaledService is deleted: {}", id, problem);
      }
    });
  }

  private CompletableFuture<ScaleApiResult> putToSleep(IdleState falling, Found read) {
    // One that has not started yet has nothing that could be kept.
    return pods().thenComposeAsync(pods -> pods != null && pods.all().isEmpty() && mayWrite()
        ? replace(null, () -> scaleTo(read, 0))
        : putToSleep(falling, read, pods), environment.loop());
  }

  private CompletableFuture<ScaleApiResult> putToSleep(IdleState falling, Found read,
      @Nullable PodsByReadiness listed) {
    var all = listed == null ? DestinationSet.NONE : listed.all();
    return sleep(falling, listed, all).thenComposeAsync(problem -> {
      if (!problem.isEmpty()) {
        return wake(read).thenApply(_ -> new Refused(Reason.UNAVAILABLE,
            "cannot put " + target() + " to sleep: " + problem));
      }
      var asleep = phase(Phase.ASLEEP, falling.method());
      return replace(asleep, () -> {
        on(new Event.Slept());
        checks.within(CHECK);
        removeIn(asleep, target().zeroAfter().isZero() ? null : target().zeroAfter());
        lastChange = new Change("FellAsleep", "falls asleep with " + replicas(read.replicas()),
            falling.method());
        return done(new Found(0, 0, read.resourceVersion()));
      });
    }, environment.loop());
  }

  /** Wakes the pods, and then sets their number, if it is another one. */
  private CompletableFuture<ScaleApiResult> wakeTo(Found now, @Nullable PodsByReadiness pods,
      int replicas) {
    var before = Objects.requireNonNull(state.stored()).method();
    if (now.replicas() == 0) {
      return areGone(pods, now)
          ? replace(null, () -> scaleTo(now, replicas))
          : done(new Refused(Reason.UNAVAILABLE,
              target() + " starts again when the pods that were asleep have ended"));
    }
    return wake(now, pods)
        .thenCompose(woken -> {
          if (!(woken instanceof Found)) {
            return done(woken);
          }
          var what = "wakes with " + replicas(now.replicas());
          lastChange = new Change("Woken",
              now.replicas() == replicas ? what : what + ", and goes to " + replicas, before);
          return now.replicas() == replicas ? done(woken) : scaleTo(now, replicas);
        });
  }

  private static String replicas(int count) {
    return count == 1 ? "1 replica" : count + " replicas";
  }

  private CompletableFuture<ScaleApiResult> wake(Found now) {
    return pods().thenComposeAsync(pods -> wake(now, pods), environment.loop());
  }

  /**
   * Wakes the pods, and sends requests to them again once they are awake. If that fails, they are
   * removed.
   */
  private CompletableFuture<ScaleApiResult> wake(Found now, @Nullable PodsByReadiness pods) {
    var before = state.stored();
    if (before == null) {
      return done(now);
    }
    if (pods == null || pods.all().isEmpty() && now.current() > 0) {
      // Its Service may be in replacement. What it lists later would be taken for awake.
      return done(new Refused(Reason.UNAVAILABLE, "the Service lists no pod of " + target()));
    }
    if (!mayWrite()) {
      return done(new Refused(Reason.CONFLICT,
          "cannot wake " + target() + ": this activator may not write now"));
    }
    long started = environment.loop().nanoTime();
    var method = method(before);
    var asleep = slept == null ? pods.all() : slept.asleep(pods);
    // That pods may be awake is stored meanwhile: a leader that finds them asleep repeats that.
    var storing = before.phase() == Phase.WAKING || method.wakesAtOnce()
        ? IdleWorkload.<@Nullable Refused>done(null)
        : replace(phase(Phase.WAKING, before.method()));
    return storing
        .<String, CompletableFuture<ScaleApiResult>>thenCombineAsync(
            method.wake(id, asleep.all(), target()), (refusal, problem) -> refusal != null
                ? done(refusal)
                : problem.isEmpty() ? awake(now, started) : notAwake(problem),
            environment.loop())
        .thenCompose(result -> result);
  }

  /** Requests of this activator do not wait until it is stored: decision 095. */
  private CompletableFuture<ScaleApiResult> awake(Found now, long started) {
    on(new Event.Woken());
    environment.woken(id, Objects.requireNonNull(status).value());
    return replace(null).thenCompose(refusal -> {
      if (refusal != null) {
        environment.woken(id, null);
        return done(refusal);
      }
      log.info("{}: {} was woken in {} ms", id, target(),
          Duration.ofNanos(environment.loop().nanoTime() - started).toMillis());
      return done(now);
    });
  }

  private CompletableFuture<ScaleApiResult> notAwake(String problem) {
    var why = target() + " could not be woken, and gets new pods: " + problem;
    happened(true, "WakeFailed", why);
    return remove("it could not be woken").thenApply(_ -> new Refused(Reason.UNAVAILABLE, why));
  }

  private boolean mayWrite() {
    return !isEnded && environment.leadership().mayWrite();
  }

  private CompletableFuture<@Nullable PodsByReadiness> pods() {
    return environment.pods(id);
  }

  private static boolean isEmpty(@Nullable PodsByReadiness pods) {
    return pods == null || pods.all().isEmpty();
  }

  /** Whether no pod is left, not even one that is terminating. */
  private static boolean areGone(@Nullable PodsByReadiness pods, Found now) {
    return pods != null && pods.all().isEmpty() && now.current() == 0;
  }

  private CompletableFuture<ScaleApiResult> readScale() {
    return environment.workloads().read(id, target().workload()).thenApplyAsync(read -> {
      scale = read instanceof Found found ? found : scale;
      return read;
    }, environment.loop());
  }

  /** Reads the scale, and takes a step with it on the loop. */
  private CompletableFuture<ScaleApiResult> withScale(
      Function<Found, CompletableFuture<ScaleApiResult>> then) {
    return readScale()
        .thenCompose(read -> read instanceof Found found ? then.apply(found) : done(read));
  }

  private CompletableFuture<ScaleApiResult> scaleTo(Found read, int replicas) {
    scale = null;
    return !mayWrite()
        ? done(new Refused(Reason.CONFLICT,
            "cannot scale " + target() + ": this activator may not write now"))
        : environment.workloads().write(id, target().workload(), read, replicas);
  }

  private void happened(boolean warning, String reason, String message) {
    environment.events().happened(id, warning, reason, message);
  }

  private PodSleep method(IdleState now) {
    return methods.getOrDefault(now.method(), PodSleep.UNKNOWN);
  }

  private IdleState phase(Phase phase, String method) {
    return new IdleState(phase, environment.now().truncatedTo(ChronoUnit.MICROS), method);
  }

  private static <T extends @Nullable Object> CompletableFuture<T> done(T value) {
    return CompletableFuture.completedFuture(value);
  }
}
