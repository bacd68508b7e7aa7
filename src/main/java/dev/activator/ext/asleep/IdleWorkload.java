package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.loop.ResettableTimer;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.StatusField;
import dev.activator.platform.StatusField.Stored;
import dev.activator.revision.Destination;
import dev.activator.revision.IdleState;
import dev.activator.revision.IdleState.Phase;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleClient.Change;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One workload whose last pods fall asleep and wake. They are put to sleep only after each activator has
 * acknowledged that it sends nothing to them. Each step is stored in the ScaledService's status before
 * it is taken, so that a later leader finishes it.
 *
 * <p><b>Threads.</b> The autoscaler's loop. The steps are taken one after another.
 */
final class IdleWorkload {
  private static final Logger log = LoggerFactory.getLogger(IdleWorkload.class);
  /** How long the permission to put pods to sleep holds. */
  private static final Duration PERMISSION = Duration.ofSeconds(30);
  private static final Duration END_POLL = Duration.ofMillis(500);
  private static final Duration REMOVE_RETRY = Duration.ofSeconds(30);

  private final RevisionId id;
  private final IdleMethod.Environment environment;
  private final Map<String, PodSleep> methods;
  private final StoredState state;
  /** Reads it again, because its pods may have been asleep for long enough. */
  private final ResettableTimer removal;
  /** As the ScaledService has it now. */
  private @Nullable IdleTarget target;
  /** The pods that this process is about to put to sleep; null if there are none. */
  private @Nullable Fall fall;
  /** What this process has put to sleep; null if it has woken them since. */
  private @Nullable Slept slept;
  /** Whether it is read again, because pods that were asleep are ending. */
  private boolean isEndAwaited;
  /** Whether the ScaledService is deleted. */
  private boolean isEnded;
  /** What the last write has done; null if it has set the replicas. */
  private @Nullable Change lastChange;
  /** The states that this process has brought about, or has repeated after another leader. */
  private final Set<IdleState> ours = new HashSet<>();

  private record Slept(List<Destination> pods, IdleTarget target, IdleState state) {}

  /** @param methods by the field {@code do} */
  IdleWorkload(RevisionId id, IdleMethod.Environment environment, StatusField<IdleState> states,
      Map<String, PodSleep> methods) {
    this.id = id;
    this.environment = environment;
    this.methods = methods;
    this.state = new StoredState(id, states, environment.loop());
    this.removal = new ResettableTimer(environment.loop(), () -> {
      var _ = read();
    });
  }

  IdleWorkload as(IdleTarget now) {
    target = now;
    return this;
  }

  private IdleTarget target() {
    return Objects.requireNonNull(target);
  }

  /**
   * Completes with whether the pods may be put to sleep, or removed.
   *
   * @param drain as of {@link Fall}
   */
  CompletableFuture<Boolean> prepareToSleep(Duration drain) {
    if (target().method().isEmpty()) {
      return done(true);
    }
    var begun = new Fall(id, phase(Phase.FALLING_ASLEEP, target().method()), drain, environment);
    fall = begun;
    return state.step(() -> state.get().thenCompose(stored -> {
      if (stored.refusal() != null || fall != begun) {
        return done(stored);
      }
      return stored.value() == null
          ? state.replace(begun.state())
          : recover().thenApply(_ -> stored);
    })).thenCompose(stored -> {
      if (stored.refusal() == null && begun.state().equals(stored.value())) {
        return begun.await(() -> fall == begun).thenApply(_ -> awaited(begun));
      }
      fall = fall == begun ? null : fall;
      return done(false);
    });
  }

  private boolean awaited(Fall begun) {
    if (fall != begun) {
      return false;
    }
    if (begun.missing().isEmpty() || begun.isDrain()) {
      environment.loop().schedule(PERMISSION, () -> cancel(begun));
      return true;
    }
    happened(true, "StaysAwake", target() + " stays awake: requests may still be sent to it by "
        + String.join(", ", begun.missing()));
    cancel(begun);
    return false;
  }

  /** Sends requests to the pods again, if they were not put to sleep. */
  void stayAwake() {
    if (fall != null) {
      cancel(fall);
    }
  }

  private void cancel(Fall begun) {
    if (fall == begun) {
      fall = null;
      var _ = state.step(() -> begun.state().equals(state.value())
          ? state.replace(null).thenApply(now -> now.refusal() == null)
          : done(false));
    }
  }

  CompletableFuture<ScaleApiResult> read() {
    return state.step(() -> state.get().thenCombine(scale(), Read::new)
        .thenComposeAsync(this::interpret, environment.loop()));
  }

  private record Read(Stored<IdleState> stored, ScaleApiResult scale) {}

  private CompletableFuture<ScaleApiResult> interpret(Read read) {
    var refusal = read.stored.refusal();
    if (refusal != null) {
      return done(refusal);
    }
    var now = read.stored.value();
    if (!(read.scale instanceof Found scale) || now == null) {
      return done(read.scale);
    }
    if (now.phase() != Phase.FALLING_ASLEEP && scale.replicas() == 0) {
      return awaitEnd(scale);
    }
    boolean isOurs = fall != null && now.equals(fall.state());
    if (now.phase() == Phase.ASLEEP && !target().method().isEmpty()) {
      if (ours.add(now)) {
        // Another leader may have died before it had put all of them to sleep.
        var _ = state.step(() -> asleepAgain(now));
      }
      removeWhenDue(now);
      return done(new Found(0, 0, scale.resourceVersion()));
    }
    if (!isOurs && mayWrite()) {
      // Another leader has begun it, or the field was removed.
      var _ = state.step(this::recover);
    }
    return done(scale);
  }

  /** Brings a workload to run that is in a state which this process has not begun. */
  private CompletableFuture<ScaleApiResult> recover() {
    return withScale(this::wake);
  }

  private CompletableFuture<Boolean> asleepAgain(IdleState now) {
    if (!now.equals(state.value()) || !mayWrite()) {
      return done(false);
    }
    return sleep(now).thenApply(problem -> {
      if (!problem.isEmpty()) {
        log.warn("{}: {} may not be asleep: {}", id, target(), problem);
        ours.remove(now);
      }
      return problem.isEmpty();
    });
  }

  /** Removes pods that have been asleep for long enough, and tries again while that fails. */
  private void removeWhenDue(IdleState asleep) {
    var after = target().zeroAfter();
    if (after.isZero() || !mayWrite()) {
      return;
    }
    var left = Duration.between(environment.now(), asleep.since().plus(after));
    removal.cancel();
    removal.within(left.isPositive() ? left : REMOVE_RETRY);
    if (!left.isPositive()) {
      var _ = state.step(() -> environment.leadership().confirmed()
          .thenComposeAsync(leads -> leads && mayWrite() && asleep.equals(state.value())
              ? remove("it was asleep for " + after.toSeconds() + " s")
              : done(new Refused(Reason.CONFLICT, target() + " was woken")),
              environment.loop()));
    }
  }

  private CompletableFuture<ScaleApiResult> remove(String why) {
    return withScale(read -> read.replicas() > 0 ? scaleTo(read, 0) : done(read))
        .thenComposeAsync(written -> {
          if (!(written instanceof Found scale)) {
            log.warn("{}: {} that is asleep cannot be removed: {}", id, target(), written);
            return done(written);
          }
          happened(false, "ScaledToZero", target() + " goes to 0: " + why);
          return awaitEnd(scale);
        }, environment.loop());
  }

  /**
   * Waits until the pods that were asleep are gone: one that is terminating may get requests if there is
   * no other.
   */
  private CompletableFuture<ScaleApiResult> awaitEnd(Found scale) {
    return pods().thenComposeAsync(pods -> {
      if (pods.isEmpty() && scale.current() == 0 && mayWrite()) {
        return state.replace(null)
            .thenApply(now -> now.refusal() == null ? scale : now.refusal());
      }
      if (!isEndAwaited) {
        isEndAwaited = true;
        environment.loop().schedule(END_POLL, () -> {
          isEndAwaited = false;
          var _ = read();
        });
      }
      return done(new Found(0, 0, scale.resourceVersion()));
    }, environment.loop());
  }

  CompletableFuture<ScaleApiResult> write(Found read, int replicas) {
    var begun = fall;
    fall = null;
    lastChange = null;
    return state.step(() -> {
      var now = state.value();
      if (replicas == 0 && !target().method().isEmpty()) {
        if (begun == null || !begun.state().equals(now)) {
          return done(new Refused(Reason.CONFLICT,
              "cannot put " + target() + " to sleep: requests may be sent to it again"));
        }
        return begun.missing().isEmpty() ? putToSleep(begun.state(), read) : removeAwake(read);
      }
      return now == null ? scaleTo(read, replicas) : withScale(scale -> wakeTo(scale, replicas));
    });
  }

  /** Removes pods whose requests go on for too long, as if there were no {@code spec.idle}. */
  private CompletableFuture<ScaleApiResult> removeAwake(Found read) {
    lastChange = new Change("ScaledToZero", "goes from " + read.replicas()
        + " to 0, because its requests did not end before timeoutSeconds", "scale");
    return state.replace(null)
        .thenCompose(now -> now.refusal() == null ? scaleTo(read, 0) : done(now.refusal()));
  }

  /** What the last write has done; null if it has set the replicas. */
  @Nullable Change lastChange() {
    return lastChange;
  }

  private CompletableFuture<String> sleep(IdleState now) {
    if (isEnded) {
      return done("its ScaledService is deleted");
    }
    return pods().thenComposeAsync(pods -> {
      slept = new Slept(pods, target(), now);
      return method(now).sleep(id, pods, target());
    }, environment.loop());
  }

  /** The ScaledService is deleted, so nothing would wake its pods later. */
  void onEnd() {
    removal.cancel();
    var _ = state.step(() -> {
      isEnded = true;
      var last = slept;
      return last != null && mayWrite()
          ? method(last.state).wake(id, last.pods, last.target)
          : done("");
    });
  }

  private CompletableFuture<ScaleApiResult> putToSleep(IdleState falling, Found read) {
    return sleep(falling).thenComposeAsync(problem -> {
      if (!problem.isEmpty()) {
        return wake(read).thenApply(_ -> new Refused(Reason.UNAVAILABLE,
            "cannot put " + target() + " to sleep: " + problem));
      }
      var asleep = phase(Phase.ASLEEP, falling.method());
      return state.replace(asleep).thenApply(now -> {
        if (now.refusal() != null) {
          return now.refusal();
        }
        ours.clear();
        ours.add(asleep);
        removeWhenDue(asleep);
        lastChange = new Change("FellAsleep", "falls asleep with " + replicas(read.replicas()),
            falling.method());
        return new Found(0, 0, read.resourceVersion());
      });
    }, environment.loop());
  }

  /** Wakes the pods, and then sets their number, if it is another one. */
  private CompletableFuture<ScaleApiResult> wakeTo(Found scale, int replicas) {
    var asleep = state.value();
    var before = asleep == null ? "" : asleep.method();
    if (scale.replicas() == 0) {
      return done(new Refused(Reason.UNAVAILABLE,
          target() + " starts again when the pods that were asleep have ended"));
    }
    return pods().thenComposeAsync(pods -> pods.isEmpty() && scale.current() > 0
        // Its Service may be in replacement. What it lists later would be taken for awake.
        ? done(new Refused(Reason.UNAVAILABLE, "the Service lists no pod of " + target()))
        : wake(scale), environment.loop())
        .thenCompose(woken -> {
          if (!(woken instanceof Found)) {
            return done(woken);
          }
          var what = "wakes with " + replicas(scale.replicas());
          lastChange = new Change("Woken",
              scale.replicas() == replicas ? what : what + ", and goes to " + replicas, before);
          return scale.replicas() == replicas ? done(woken) : scaleTo(scale, replicas);
        });
  }

  private static String replicas(int count) {
    return count == 1 ? "1 replica" : count + " replicas";
  }

  /**
   * Wakes the pods, and sends requests to them again once they are awake. If that fails, they are
   * removed.
   */
  private CompletableFuture<ScaleApiResult> wake(Found scale) {
    var before = state.value();
    if (before == null || !mayWrite()) {
      return done(scale);
    }
    long started = environment.loop().nanoTime();
    var method = method(before);
    // That pods may be awake is stored meanwhile: a leader that finds them asleep repeats that.
    var storing = before.phase() == Phase.WAKING || method.wakesAtOnce()
        ? CompletableFuture.<@Nullable Refused>completedFuture(null)
        : state.replace(phase(Phase.WAKING, before.method())).thenApply(Stored::refusal);
    var waking = pods().thenCompose(pods -> method.wake(id, pods, target()));
    return storing
        .<String, CompletableFuture<ScaleApiResult>>thenCombineAsync(waking,
            (refusal, problem) -> refusal != null
                ? done(refusal)
                : problem.isEmpty() ? awake(scale, started) : notAwake(problem),
            environment.loop())
        .thenCompose(result -> result);
  }

  private CompletableFuture<ScaleApiResult> awake(Found scale, long started) {
    return state.replace(null).thenApply(now -> {
      if (now.refusal() != null) {
        return now.refusal();
      }
      ours.clear();
      slept = null;
      log.info("{}: {} was woken in {} ms", id, target(),
          Duration.ofNanos(environment.loop().nanoTime() - started).toMillis());
      return scale;
    });
  }

  private CompletableFuture<ScaleApiResult> notAwake(String problem) {
    var why = target() + " could not be woken, and gets new pods: " + problem;
    happened(true, "WakeFailed", why);
    return remove("it could not be woken").thenApply(_ -> new Refused(Reason.UNAVAILABLE, why));
  }

  private boolean mayWrite() {
    return environment.leadership().mayWrite();
  }

  private CompletableFuture<List<Destination>> pods() {
    return environment.pods(id);
  }

  private CompletableFuture<ScaleApiResult> scale() {
    return environment.workloads().read(id, target().workload());
  }

  /** Reads the scale, and takes a step with it on the loop. */
  private CompletableFuture<ScaleApiResult> withScale(
      Function<Found, CompletableFuture<ScaleApiResult>> then) {
    return scale().thenComposeAsync(
        read -> read instanceof Found found ? then.apply(found) : done(read),
        environment.loop());
  }

  private CompletableFuture<ScaleApiResult> scaleTo(Found read, int replicas) {
    return environment.workloads().write(id, target().workload(), read, replicas);
  }

  private void happened(boolean warning, String reason, String message) {
    environment.events().happened(id, warning, reason, message);
  }

  private PodSleep method(IdleState now) {
    return methods.getOrDefault(now.method(), UnknownSleep.METHOD);
  }

  private IdleState phase(Phase phase, String method) {
    return new IdleState(phase, environment.now().truncatedTo(ChronoUnit.MICROS), method);
  }

  private static <T> CompletableFuture<T> done(T value) {
    return CompletableFuture.completedFuture(value);
  }
}
