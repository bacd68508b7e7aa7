package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleWorkloadState.Event;
import dev.activator.ext.asleep.policy.SleepingPods;
import dev.activator.platform.IdleMethod;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.IdleState;
import dev.activator.revision.IdleState.Phase;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pods of one workload, which are put to sleep and woken.
 *
 * <p><b>Threads.</b> The autoscaler's loop.
 */
final class IdlePods {
  private static final Logger log = LoggerFactory.getLogger(IdlePods.class);

  private final IdleMethod.Environment environment;
  private final IdleProgress progress;
  private final Map<String, PodSleep> methods;

  /** @param methods by the field {@code do} */
  IdlePods(IdleMethod.Environment environment, IdleProgress progress,
      Map<String, PodSleep> methods) {
    this.environment = environment;
    this.progress = progress;
    this.methods = methods;
  }

  /** Those that its Service lists; null if that does not show which there are. */
  CompletableFuture<@Nullable PodsByReadiness> list() {
    return environment.pods(progress.id());
  }

  /** Whether no pod is left, not even one that is terminating. */
  static boolean areGone(@Nullable PodsByReadiness pods, Found scale) {
    return pods != null && pods.all().isEmpty() && scale.current() == 0;
  }

  /** Those that have started since they were put to sleep, and are awake. */
  DestinationSet started(@Nullable PodsByReadiness pods) {
    var slept = progress.state().slept();
    return pods == null || slept == null ? DestinationSet.NONE : slept.started(pods);
  }

  /**
   * Completes with the first problem, in a sentence; empty if there is none.
   *
   * @param which of the pods are put to sleep
   */
  CompletableFuture<String> sleep(IdleState now, @Nullable PodsByReadiness pods,
      DestinationSet which) {
    if (progress.isEnded()) {
      return done("its ScaledService is deleted");
    }
    if (pods == null) {
      return done("its Service does not show which pods there are");
    }
    if (!progress.mayWrite()) {
      return done("this activator does not lead any more");
    }
    var target = progress.target();
    progress.on(new Event.Sleeping(
        SleepingPods.of(progress.state().slept(), pods, which, target, now)));
    return method(now).sleep(progress.id(), which.all(), target);
  }

  /** Wakes those that this process has put to sleep. Completes with the first problem, as {@link #sleep}. */
  CompletableFuture<String> wakeSlept() {
    var slept = progress.mayWrite() ? progress.state().slept() : null;
    return slept == null
        ? done("")
        : method(slept.state()).wake(progress.id(), slept.pods().all().all(), slept.target());
  }

  /**
   * Wakes the pods, and sends requests to them again once they are awake.
   *
   * @param scale as it was last read, which is the result if they are awake
   * @param otherwise what to do if they cannot be woken, with the problem
   */
  CompletableFuture<ScaleApiResult> wake(Found scale, @Nullable PodsByReadiness pods,
      Function<String, CompletableFuture<ScaleApiResult>> otherwise) {
    var before = progress.state().stored();
    if (before == null) {
      return done(scale);
    }
    var target = progress.target();
    if (pods == null || pods.all().isEmpty() && scale.current() > 0) {
      // Its Service may be in replacement. What it lists later would be taken for awake.
      return done(new Refused(Reason.UNAVAILABLE, "the Service lists no pod of " + target));
    }
    if (!progress.mayWrite()) {
      return done(new Refused(Reason.CONFLICT,
          "cannot wake " + target + ": this activator may not write now"));
    }
    long started = environment.loop().nanoTime();
    var method = method(before);
    var slept = progress.state().slept();
    var asleep = slept == null ? pods.all() : slept.asleep(pods);
    // That pods may be awake is stored meanwhile: a leader that finds them asleep repeats that.
    var storing = before.phase() == Phase.WAKING || method.wakesAtOnce()
        ? IdlePods.<@Nullable Refused>done(null)
        : progress.replace(progress.phase(Phase.WAKING, before.method()));
    return storing
        .<String, CompletableFuture<ScaleApiResult>>thenCombineAsync(
            method.wake(progress.id(), asleep.all(), target), (refusal, problem) -> refusal != null
                ? done(refusal)
                : problem.isEmpty() ? awake(scale, started) : otherwise.apply(problem),
            environment.loop())
        .thenCompose(result -> result);
  }

  /** Requests of this activator do not wait until it is stored: decision 095. */
  private CompletableFuture<ScaleApiResult> awake(Found scale, long started) {
    progress.on(new Event.Woken());
    environment.woken(progress.id(), progress.status());
    return progress.replace(null).thenCompose(refusal -> {
      if (refusal != null) {
        environment.woken(progress.id(), null);
        return done(refusal);
      }
      log.info("{}: {} was woken in {} ms", progress.id(), progress.target(),
          Duration.ofNanos(environment.loop().nanoTime() - started).toMillis());
      return done(scale);
    });
  }

  private PodSleep method(IdleState now) {
    return methods.getOrDefault(now.method(), PodSleep.UNKNOWN);
  }

  private static <T extends @Nullable Object> CompletableFuture<T> done(T value) {
    return CompletableFuture.completedFuture(value);
  }
}
