package dev.activator.revision;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import java.time.Duration;
import java.util.Locale;

/**
 * A snapshot of the scaling of one workload: replicas, conditions, and an explanation.
 *
 * @param desired the replicas that the autoscaler wants, within the bounds; empty before its first
 *     decision
 * @param replicas the replicas in the workload's spec, as last read or written; empty before the
 *     first read
 * @param current the replicas in the workload's status
 * @param ready the number of pods that are ready
 * @param state whether it runs; null before the first read
 * @param active the condition {@code Active}
 * @param explanation such as {@code 3 = ceil(52 in flight ÷ 20), stable window}; always a sentence
 * @param trouble why the workload cannot be scaled, for the condition {@code Ready}; null if it can
 * @param note the message of a condition {@code Ready} that is true, for instance that another
 *     client has set the replicas; may be empty
 * @param keptWarm the effect of keeping a pod by earlier idle times; null if that is switched off
 */
public record ScalingView(RevisionId id, ScaleTarget workload, OptionalInt desired,
    OptionalInt replicas, OptionalInt current, int ready, @Nullable ScaleState state,
    ActiveCondition active, String explanation,
    @Nullable Trouble trouble, String note,
    @Nullable KeepWarmEffect keptWarm) {

  /**
   * The reason and message of a condition {@code Ready} that is false.
   *
   * @param reason in one word, such as {@code TargetNotFound} or {@code Forbidden}
   */
  public record Trouble(String reason, String message) {}

  /** Whether the views are equal except for the explanation, which changes every second. */
  public boolean equalsButExplanation(ScalingView other) {
    return equals(new ScalingView(other.id, other.workload, other.desired, other.replicas,
        other.current, other.ready, other.state, other.active, explanation, other.trouble,
        other.note, other.keptWarm));
  }

  /**
   * The condition {@code Active} of a workload: whether it takes requests, and since when.
   *
   * <p><b>Source.</b> {@code pa_lifecycle.go} and {@code kpa.go} of Knative Serving, which use the
   * same reasons and messages.
   *
   * @param since when the state last changed, in nanoseconds of the autoscaler's clock
   * @param timedOut whether it is inactive because it never became ready
   */
  public record ActiveCondition(State state, long since, boolean timedOut) {
    public enum State {
      /** Enough pods are ready. */
      TRUE,
      /** It is at zero, or about to be. */
      FALSE,
      /** It needs pods that are not ready yet. */
      UNKNOWN
    }

    public static ActiveCondition unknown(long now) {
      return new ActiveCondition(State.UNKNOWN, now, false);
    }

    public ActiveCondition withPods(long now, boolean enoughReady) {
      return to(enoughReady ? State.TRUE : State.UNKNOWN, now, false);
    }

    public ActiveCondition inactive(long now, boolean nowTimedOut) {
      return to(State.FALSE, now, nowTimedOut);
    }

    private ActiveCondition to(State next, long now, boolean nowTimedOut) {
      return next == state ? this : new ActiveCondition(next, now, nowTimedOut);
    }

    /** The reason in one word; empty while the workload is active. */
    public String reason() {
      return switch (state) {
        case TRUE -> "";
        case FALSE -> timedOut ? "TimedOut" : "NoTraffic";
        case UNKNOWN -> "Queued";
      };
    }

    /** The message, a sentence; empty while the workload is active. */
    public String message() {
      return switch (state) {
        case TRUE -> "";
        case FALSE -> timedOut
            ? "The target could not be activated."
            : "The target is not receiving traffic.";
        case UNKNOWN -> "Requests to the target are being buffered as resources are provisioned.";
      };
    }
  }

  /**
   * The effect of keeping a pod by the history of idle times: the cold starts that it has avoided, or
   * would have avoided.
   *
   * @param range null while the usual window applies
   * @param predicted the number of requests that ended an idle time while there was a range
   * @param saved how many of them found a pod because of the range
   * @param cost how long one pod was kept only because of the range
   */
  public record KeepWarmEffect(boolean observeOnly, @Nullable Range range, int predicted, int saved,
      Duration cost) {
    /** The effect in words, for people. */
    public String sentence() {
      return (observeOnly ? "by idle times, would have saved " : "by idle times, has saved ")
          + saved
          + " of " + predicted + " starts for " + cost.toSeconds() + " s of a pod; "
          + (range == null
              ? "the usual window applies now, as no idle time is likely"
              : "a pod is likely to be needed " + range + " after the last request");
    }

    /**
     * The times since the last request at which a pod should be ready: from {@code from}, inclusive,
     * to {@code to}, exclusive.
     */
    public record Range(Duration from, Duration to) {
      public boolean contains(Duration idle) {
        return idle.compareTo(from) >= 0 && idle.compareTo(to) < 0;
      }

      @Override
      public String toString() {
        return from.toSeconds() + " s to " + to.toSeconds() + " s";
      }
    }
  }

  /** Whether a workload runs, in one word: the column {@code STATE} of its ScaledService. */
  public enum ScaleState {
    /** It has a ready pod. */
    RUNNING,
    /** It has replicas, or should have some, and no pod is ready. */
    WAKING,
    /** It should have replicas, and waits until another workload has stopped. */
    WAITING,
    /** It has no replicas, and the last pods are ending. */
    STOPPING,
    /** It has neither replicas nor pods, and needs none. */
    ZERO;

    /**
     * @param replicas the replicas in the workload's spec
     * @param desired the replicas that the autoscaler wants
     * @param pods the number of pods, ready, starting or ending
     */
    public static ScaleState of(int replicas, int desired, int ready, int pods) {
      if (replicas > 0) {
        return ready > 0 ? RUNNING : WAKING;
      }
      if (desired > 0) {
        return WAKING;
      }
      return pods > 0 ? STOPPING : ZERO;
    }

    /** As it is shown. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
