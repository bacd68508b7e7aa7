package dev.activator.standalone.autoscaler.policy;

import dev.activator.revision.ScalingView.ActiveCondition;
import dev.activator.revision.ScalingView.ActiveCondition.State;
import dev.activator.config.SettingPreconditions;
import java.time.Duration;

/**
 * Decides when the last pods of an idle workload are removed. The workload first stays active for a
 * whole window, then inactive for a while.
 *
 * <p><b>Source.</b> {@code handleScaleToZero} in {@code pkg/reconciler/autoscaling/kpa/scaler.go}
 * of Knative Serving, with the activator always in the path.
 */
final class ScaleToZeroDecider {
  /** The minimum time between the change to inactive and scaling to zero. */
  static final Duration PAUSE = Duration.ofSeconds(3);
  /** The time for which pods that are not ready stay after their progress deadline. */
  static final Duration ACTIVATION_GRACE = Duration.ofSeconds(30);

  private ScaleToZeroDecider() {}

  enum Outcome {
    KEEP,
    ONE,
    ZERO
  }

  /**
   * @param activity the condition from now on
   * @param again when to decide again; meaningless for {@link Outcome#ZERO}
   */
  record Step(Outcome outcome, ActiveCondition activity, long again) {}

  /**
   * The next step for an idle workload.
   *
   * @param lastDemand when a request last waited, ran or arrived, but not before the workload
   *     became known
   */
  static Step of(long now, ActiveCondition activity, long lastDemand, ScalingSettings settings) {
    long window = settings.windows().stable().toNanos();
    long pause = max(PAUSE, settings.idle().retention());
    return switch (activity.state()) {
      case UNKNOWN -> {
        long over = activity.since() + patience(settings.idle().progressDeadline());
        yield now > over
            ? new Step(Outcome.ZERO, activity.inactive(now, true), now)
            : new Step(Outcome.KEEP, activity, over + 1);
      }
      case TRUE -> now - activity.since() < window
          ? new Step(Outcome.ONE, activity, activity.since() + window)
          : new Step(Outcome.KEEP, activity.inactive(now, false), now + pause);
      case FALSE -> {
        long due = Math.max(activity.since() + pause, lastDemand + window);
        yield now >= due
            ? new Step(Outcome.ZERO, activity, now)
            : new Step(Outcome.KEEP, activity, due);
      }
    };
  }

  static boolean expectsPods(ActiveCondition activity) {
    return activity.state() != State.FALSE;
  }

  private static long patience(Duration progressDeadline) {
    return SettingPreconditions.atMostForEver(progressDeadline.plus(ACTIVATION_GRACE)).toNanos();
  }

  private static long max(Duration one, Duration other) {
    return Math.max(one.toNanos(), other.toNanos());
  }
}
