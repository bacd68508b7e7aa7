package dev.activator.ext.asleep;

import dev.activator.ext.asleep.IdleStatuses.Stored;
import dev.activator.ext.asleep.IdleWorkload.Fall;
import dev.activator.ext.asleep.IdleWorkload.Slept;
import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.platform.IdleMethod;
import dev.activator.revision.Destination;
import dev.activator.revision.IdleState;
import dev.activator.revision.IdleState.Phase;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.Slot;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts the last pods of workloads to sleep where the autoscaler writes zero replicas, and wakes them where
 * it writes more. Pods are put to sleep only after each activator has acknowledged that it sends nothing
 * to them. Each step is stored in the ScaledService's status before it is taken, so that a later leader
 * finishes it.
 *
 * <p><b>Threads.</b> The autoscaler's loop. The steps of one workload are taken one after another.
 */
final class IdleClient implements ScaleClient<IdleTarget> {
  private static final Logger log = LoggerFactory.getLogger(IdleClient.class);
  private static final Duration POLL = Duration.ofMillis(20);
  /** Requests that arrive meanwhile wait no longer than that. */
  private static final Duration ACKNOWLEDGE_TIMEOUT = Duration.ofSeconds(10);
  /** How long the permission to put pods to sleep holds. */
  private static final Duration PERMISSION = Duration.ofSeconds(30);
  private static final Duration END_POLL = Duration.ofMillis(500);

  private final IdleMethod.Environment environment;
  private final IdleStatuses statuses;
  private final Map<String, PodSleep> methods;
  private final LiveRevisions revisions;
  private final Slot<IdleWorkload> workloads;

  /** @param methods by the field {@code do} */
  IdleClient(IdleMethod.Environment environment, IdleStatuses statuses,
      Map<String, PodSleep> methods, LiveRevisions revisions) {
    this.revisions = revisions;
    this.workloads = revisions.slot("sleep",
        live -> new IdleWorkload(live.id(), statuses, environment.loop()),
        last -> environment.loop().execute(() -> onEnd(last)));
    this.environment = environment;
    this.statuses = statuses;
    this.methods = Map.copyOf(methods);
  }

  @Override
  public CompletableFuture<Boolean> prepareScaleToZero(RevisionId id, IdleTarget target) {
    var workload = workload(id);
    if (target.method().isEmpty()) {
      return CompletableFuture.completedFuture(true);
    }
    var fall = new Fall(state(Phase.FALLING_ASLEEP, target.method()));
    workload.fall = fall;
    var _ = workload.step(() -> workload.get().thenCompose(stored -> {
      if (stored.refusal() != null || workload.fall != fall) {
        return done(stored);
      }
      return stored.state() == null
          ? workload.replace(stored, fall.state)
          : recover(id, target, workload).thenApply(_ -> stored);
    })).thenAccept(stored -> {
      fall.written = environment.loop().nanoTime();
      if (stored.refusal() == null && fall.state.equals(stored.state())) {
        awaitAcknowledgements(id, target, workload, fall);
      } else {
        workload.fall = workload.fall == fall ? null : workload.fall;
        fall.answer.complete(false);
      }
    });
    return fall.answer;
  }

  private void awaitAcknowledgements(RevisionId id, IdleTarget target, IdleWorkload workload,
      Fall fall) {
    var loop = environment.loop();
    if (workload.fall != fall) {
      fall.answer.complete(false);
      return;
    }
    var missing = environment.unacknowledged(id, fall.state, fall.written);
    if (missing.isEmpty()) {
      loop.schedule(PERMISSION, () -> cancel(id, workload, fall));
      fall.answer.complete(true);
    } else if (loop.nanoTime() - fall.written < ACKNOWLEDGE_TIMEOUT.toNanos()) {
      loop.schedule(POLL, () -> awaitAcknowledgements(id, target, workload, fall));
    } else {
      environment.events().happened(id, true, "StaysAwake", target + " stays awake: requests may"
          + " still be sent to it by " + String.join(", ", missing));
      cancel(id, workload, fall);
      fall.answer.complete(false);
    }
  }

  @Override
  public void cancelScaleToZero(RevisionId id, IdleTarget target) {
    var workload = workload(id);
    if (workload.fall != null) {
      cancel(id, workload, workload.fall);
    }
  }

  /** Sends requests to the pods again, if they were not put to sleep. */
  private void cancel(RevisionId id, IdleWorkload workload, Fall fall) {
    if (workload.fall != fall) {
      return;
    }
    workload.fall = null;
    var _ = workload.step(() -> {
      var stored = workload.stored;
      return stored != null && fall.state.equals(stored.state())
          ? workload.replace(stored, null).thenApply(now -> now.refusal() == null)
          : done(false);
    });
  }

  @Override
  public CompletableFuture<ScaleApiResult> read(RevisionId id, IdleTarget target) {
    var workload = workload(id);
    return workload.step(() -> workload.get()
        .thenCombine(environment.workloads().read(id, target.workload()), Read::new)
        .thenComposeAsync(read -> interpret(id, target, workload, read), environment.loop()));
  }

  private record Read(Stored stored, ScaleApiResult scale) {}

  private CompletableFuture<ScaleApiResult> interpret(RevisionId id, IdleTarget target,
      IdleWorkload workload, Read read) {
    var refusal = read.stored.refusal();
    if (refusal != null) {
      return done(refusal);
    }
    var state = read.stored.state();
    if (!(read.scale instanceof Found scale) || state == null) {
      return done(read.scale);
    }
    if (state.phase() != Phase.FALLING_ASLEEP && scale.replicas() == 0) {
      return awaitEnd(id, target, workload, scale);
    }
    var fall = workload.fall;
    boolean isOurs = fall != null && state.equals(fall.state);
    if (state.phase() == Phase.ASLEEP && !target.method().isEmpty()) {
      if (workload.ours.add(state)) {
        // Another leader may have died before it had put all of them to sleep.
        var _ = workload.step(() -> asleepAgain(id, target, workload, state));
        removeLater(id, target, workload, state);
      }
      return done(new Found(0, 0, scale.resourceVersion()));
    }
    if (!isOurs && environment.leadership().mayWrite()) {
      // Another leader has begun it, or the field was removed.
      var _ = workload.step(() -> recover(id, target, workload));
    }
    return done(scale);
  }

  /** Brings a workload to run that is in a state which this process has not begun. */
  private CompletableFuture<ScaleApiResult> recover(RevisionId id, IdleTarget target,
      IdleWorkload workload) {
    return environment.workloads().read(id, target.workload()).thenComposeAsync(
        read -> read instanceof Found scale
            ? wake(id, target, workload, scale)
            : done(read),
        environment.loop());
  }

  private CompletableFuture<Boolean> asleepAgain(RevisionId id, IdleTarget target,
      IdleWorkload workload,
      IdleState state) {
    if (!state.equals(workload.state()) || !environment.leadership().mayWrite()) {
      return done(false);
    }
    return sleep(id, target, workload, state)
        .thenApply(problem -> {
          if (!problem.isEmpty()) {
            log.warn("{}: {} may not be asleep: {}", id, target, problem);
          }
          return problem.isEmpty();
        });
  }

  /** Removes pods that have been asleep for long enough. */
  private void removeLater(RevisionId id, IdleTarget target, IdleWorkload workload,
      IdleState state) {
    if (!target.zeroAfter().isZero()) {
      var left = Duration.between(environment.now(), state.since().plus(target.zeroAfter()));
      environment.loop().schedule(left.isNegative() ? Duration.ZERO : left,
          () -> workload.step(() -> environment.leadership().confirmed()
              .thenComposeAsync(leads -> leads && environment.leadership().mayWrite()
                  && state.equals(workload.state())
                      ? remove(id, target, workload, "it was asleep for "
                          + target.zeroAfter().toSeconds() + " s")
                      : done(new Refused(Reason.CONFLICT, target + " was woken")),
                  environment.loop())));
    }
  }

  private CompletableFuture<ScaleApiResult> remove(RevisionId id, IdleTarget target,
      IdleWorkload workload, String why) {
    var scales = environment.workloads();
    return scales.read(id, target.workload())
        .thenCompose(read -> read instanceof Found scale && scale.replicas() > 0
            ? scales.write(id, target.workload(), scale, 0)
            : done(read))
        .thenComposeAsync(written -> {
          if (!(written instanceof Found scale)) {
            log.warn("{}: {} that is asleep cannot be removed: {}", id, target, written);
            return done(written);
          }
          environment.events().happened(id, false, "ScaledToZero",
              target + " goes to 0: " + why);
          return awaitEnd(id, target, workload, scale);
        }, environment.loop());
  }

  /**
   * Waits until the pods that were asleep are gone: one that is terminating may get requests if there is
   * no other.
   */
  private CompletableFuture<ScaleApiResult> awaitEnd(RevisionId id, IdleTarget target,
      IdleWorkload workload, Found scale) {
    return environment.pods(id).thenComposeAsync(pods -> {
      var stored = Objects.requireNonNull(workload.stored);
      if (pods.isEmpty() && scale.current() == 0 && environment.leadership().mayWrite()) {
        return workload.replace(stored, null).thenApply(now -> now.refusal() == null
            ? scale
            : now.refusal());
      }
      if (!workload.isEndAwaited) {
        workload.isEndAwaited = true;
        environment.loop().schedule(END_POLL, () -> {
          workload.isEndAwaited = false;
          var _ = read(id, target);
        });
      }
      return done(new Found(0, 0, scale.resourceVersion()));
    }, environment.loop());
  }

  @Override
  public CompletableFuture<ScaleApiResult> write(RevisionId id, IdleTarget target, Found read,
      int replicas) {
    var workload = workload(id);
    var fall = workload.fall;
    workload.fall = null;
    return workload.step(() -> {
      var state = workload.state();
      if (replicas == 0 && !target.method().isEmpty()) {
        return fall != null && fall.state.equals(state)
            ? putToSleep(id, target, workload, fall.state, read)
            : done(new Refused(Reason.CONFLICT, "cannot put " + target
                + " to sleep: requests may be sent to it again"));
      }
      return state == null
          ? environment.workloads().write(id, target.workload(), read, replicas)
          : environment.workloads().read(id, target.workload()).thenComposeAsync(
              scale -> scale instanceof Found found
                  ? wakeTo(id, target, workload, found, replicas)
                  : done(scale),
              environment.loop());
    });
  }

  private CompletableFuture<String> sleep(RevisionId id, IdleTarget target, IdleWorkload workload,
      IdleState state) {
    return environment.pods(id).thenComposeAsync(pods -> {
      workload.slept = new Slept(pods, target, state);
      return method(state).sleep(pods, target);
    }, environment.loop());
  }

  /** The ScaledService is deleted, so nothing would wake its pods later. */
  private void onEnd(IdleWorkload last) {
    var slept = last.slept;
    if (slept != null && environment.leadership().mayWrite()) {
      var _ = method(slept.state()).wake(slept.pods(), slept.target());
    }
  }

  private CompletableFuture<ScaleApiResult> putToSleep(RevisionId id, IdleTarget target,
      IdleWorkload workload, IdleState falling, Found read) {
    return sleep(id, target, workload, falling)
        .thenComposeAsync(problem -> {
          var stored = Objects.requireNonNull(workload.stored);
          if (!problem.isEmpty()) {
            return wake(id, target, workload, read)
                .thenApply(_ -> new Refused(Reason.UNAVAILABLE,
                    "cannot put " + target + " to sleep: " + problem));
          }
          var asleep = state(Phase.ASLEEP, falling.method());
          return workload.replace(stored, asleep).thenApply(now -> {
            if (now.refusal() != null) {
              return now.refusal();
            }
            workload.ours.clear();
            workload.ours.add(asleep);
            removeLater(id, target, workload, asleep);
            return new Found(0, 0, read.resourceVersion());
          });
        }, environment.loop());
  }

  /** Wakes the pods, and then sets their number, if it is another one. */
  private CompletableFuture<ScaleApiResult> wakeTo(RevisionId id, IdleTarget target,
      IdleWorkload workload, Found scale, int replicas) {
    if (scale.replicas() == 0) {
      return done(new Refused(Reason.UNAVAILABLE,
          target + " starts again when the pods that were asleep have ended"));
    }
    return environment.pods(id).thenComposeAsync(pods -> pods.isEmpty() && scale.current() > 0
        // Its Service may be in replacement. What it lists later would be taken for awake.
        ? done(new Refused(Reason.UNAVAILABLE, "the Service lists no pod of " + target))
        : wake(id, target, workload, scale), environment.loop()).thenCompose(woken -> {
          boolean isAwake = woken instanceof Found;
          return isAwake && scale.replicas() != replicas
              ? environment.workloads().write(id, target.workload(), scale, replicas)
              : done(woken);
        });
  }

  /**
   * Wakes the pods, and sends requests to them again once they are awake. If that fails, they are
   * removed.
   */
  private CompletableFuture<ScaleApiResult> wake(RevisionId id, IdleTarget target,
      IdleWorkload workload, Found scale) {
    var stored = workload.stored;
    var state = workload.state();
    if (stored == null || state == null || !environment.leadership().mayWrite()) {
      return done(scale);
    }
    long started = environment.loop().nanoTime();
    // That pods may be awake is stored meanwhile: a leader that finds them asleep repeats that.
    var storing = state.phase() == Phase.WAKING || method(state).wakesAtOnce()
        ? done(stored)
        : workload.replace(stored, state(Phase.WAKING, state.method()));
    var waking = environment.pods(id).thenCompose(pods -> method(state).wake(pods, target));
    return storing.thenCombine(waking, (now, problem) -> new Waking(now, problem))
        .thenComposeAsync(woken -> {
          var refusal = woken.stored.refusal();
          if (refusal != null) {
            return done(refusal);
          }
          if (!woken.problem.isEmpty()) {
            var why = target + " could not be woken, and gets new pods: " + woken.problem;
            environment.events().happened(id, true, "WakeFailed", why);
            return remove(id, target, workload, "it could not be woken")
                .thenApply(_ -> new Refused(Reason.UNAVAILABLE, why));
          }
          return workload.replace(woken.stored, null).thenApply(now -> {
            if (now.refusal() != null) {
              return now.refusal();
            }
            workload.ours.clear();
            workload.slept = null;
            log.info("{}: {} was woken in {} ms", id, target, Duration
                .ofNanos(environment.loop().nanoTime() - started).toMillis());
            return scale;
          });
        }, environment.loop());
  }

  private record Waking(Stored stored, String problem) {}

  private PodSleep method(IdleState state) {
    return methods.getOrDefault(state.method(), Unknown.METHOD);
  }

  /** The method of a state that another version, or another mode, has written. */
  private enum Unknown implements PodSleep {
    METHOD;

    @Override
    public CompletableFuture<String> sleep(List<Destination> pods, IdleTarget target) {
      return wake(pods, target);
    }

    @Override
    public CompletableFuture<String> wake(List<Destination> pods, IdleTarget target) {
      return done("this activator does not know how they were put to sleep");
    }
  }

  private IdleState state(Phase phase, String method) {
    return new IdleState(phase, environment.now().truncatedTo(ChronoUnit.MICROS), method);
  }

  private IdleWorkload workload(RevisionId id) {
    var live = revisions.slot(id, workloads);
    // A ScaledService that has just been deleted.
    return live == null ? new IdleWorkload(id, statuses, environment.loop()) : live;
  }

  private static <T> CompletableFuture<T> done(T value) {
    return CompletableFuture.completedFuture(value);
  }
}
