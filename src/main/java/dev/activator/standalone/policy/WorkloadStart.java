package dev.activator.standalone.policy;

import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is known about the start of a workload's pods, and so why none is ready.
 *
 * <p><b>Units.</b> Times are in nanoseconds of the loop's clock.
 *
 * @param failure why its pods do not start. Kept until the autoscaler says that one is ready or none is
 *     wanted, as a container that crashes also runs now and then
 * @param run the pod whose containers run; null if there is none
 * @param unready why pods that run are not ready. Kept as long as {@code failure}, for the workload that
 *     is scaled
 * @param unscheduled the start of pods that no node takes; null if there is none, or no request waits
 *     here
 */
public record WorkloadStart(Scale scale, @Nullable Trouble failure, @Nullable Run run,
    @Nullable Trouble unready, @Nullable RevisionStartProgress unscheduled) {
  public static final WorkloadStart NONE = new WorkloadStart(Scale.UNDECIDED, null, null, null,
      null);
  /** How long containers may run before they are ready: three probes in Kubernetes' period. */
  private static final Duration UNTIL_UNREADY = Duration.ofSeconds(30);

  /** What the autoscaler has decided. */
  public enum Scale {
    /** Nothing, in this term or about this object. */
    UNDECIDED,
    /** Pods are wanted, and none is ready. */
    WAKING,
    /** A pod is ready, or none is wanted. */
    OTHER
  }

  /**
   * Containers that run while no pod is ready.
   *
   * @param started when the last of them started
   * @param since when they were first seen to run, or the workload began to wake
   */
  record Run(String pod, @Nullable Instant started, long since) {
    private boolean isOf(RevisionStartProgress now) {
      return now.pod().equals(pod) && Objects.equals(now.ends().get(StartPhase.CONTAINER), started);
    }
  }

  public sealed interface Event {
    record Decided(boolean isWaking) implements Event {}

    record Progressed(RevisionStartProgress now) implements Event {}

    /** @param why null once a pod may start, and at the end of the watch */
    record Failed(@Nullable Trouble why) implements Event {}

    /** No workload is scaled. */
    record Unscaled() implements Event {}

    /** Another object has the name, or the term has ended. */
    record Forgotten() implements Event {}

    record TimePassed() implements Event {}
  }

  public WorkloadStart on(Event event, long now) {
    return switch (event) {
      case Event.Decided(var isWaking) when !isWaking ->
        new WorkloadStart(Scale.OTHER, null, null, null, unscheduled);
      case Event.Decided _ when scale == Scale.WAKING -> this;
      case Event.Decided _ -> new WorkloadStart(Scale.WAKING, failure,
          run == null ? null : new Run(run.pod, run.started, now), unready, unscheduled);
      case Event.Progressed(var next) -> new WorkloadStart(scale, failure, run(next, now), unready,
          next.isUnscheduled() ? next : null);
      case Event.Failed(var why) when why == null && scale != Scale.UNDECIDED -> this;
      case Event.Failed(var why) -> new WorkloadStart(scale, why, run, unready, unscheduled);
      case Event.Unscaled _ ->
        new WorkloadStart(Scale.UNDECIDED, failure, null, null, unscheduled);
      case Event.Forgotten _ -> new WorkloadStart(Scale.UNDECIDED, null, null, null, unscheduled);
      case Event.TimePassed _ when run != null && mayBeUnready() && nanosUntilUnready(now) == 0 ->
        new WorkloadStart(scale, failure, run, new Trouble("PodsNotReady",
            "no pod is ready: the containers of pod " + run.pod + " have run since " + run.started
                + ", but its probes or readiness gates do not pass"),
            unscheduled);
      case Event.TimePassed _ -> this;
    };
  }

  private @Nullable Run run(RevisionStartProgress next, long now) {
    // The end of the watch says nothing.
    if (next.pod().isEmpty() || run != null && run.isOf(next)) {
      return run;
    }
    return next.isRunning()
        ? new Run(next.pod(), next.ends().get(StartPhase.CONTAINER), now)
        : null;
  }

  private boolean mayBeUnready() {
    return scale == Scale.WAKING && failure == null && unready == null;
  }

  /** The time until the pods that run are called unready; zero if they are, or if no pod runs. */
  public long nanosUntilUnready(long now) {
    return run == null || !mayBeUnready()
        ? 0
        : Math.max(0, run.since + UNTIL_UNREADY.toNanos() - now);
  }

  /** Why no pod is ready; null if that is unknown. */
  public @Nullable Trouble trouble() {
    return failure == null ? unready : failure;
  }
}
