package dev.activator.autoscaler.policy;

/**
 * Whether a workload takes requests: its condition {@code Active}.
 *
 * <p><b>Source.</b> {@code pa_lifecycle.go} and {@code kpa.go} of Knative Serving, whose reasons and
 * messages these are.
 *
 * @param since when the state last changed, in nanoseconds of the autoscaler's clock
 * @param timedOut whether it is inactive because it never became ready
 */
public record WorkloadActivity(State state, long since, boolean timedOut) {
  public enum State {
    /** Enough pods are ready. */
    TRUE,
    /** It is at zero, or about to be. */
    FALSE,
    /** It needs pods that are not ready yet. */
    UNKNOWN
  }

  public static WorkloadActivity unknown(long now) {
    return new WorkloadActivity(State.UNKNOWN, now, false);
  }

  WorkloadActivity withPods(long now, boolean enoughReady) {
    return to(enoughReady ? State.TRUE : State.UNKNOWN, now, false);
  }

  WorkloadActivity inactive(long now, boolean nowTimedOut) {
    return to(State.FALSE, now, nowTimedOut);
  }

  private WorkloadActivity to(State next, long now, boolean nowTimedOut) {
    return next == state ? this : new WorkloadActivity(next, now, nowTimedOut);
  }

  /** One word; empty while it is active. */
  public String reason() {
    return switch (state) {
      case TRUE -> "";
      case FALSE -> timedOut ? "TimedOut" : "NoTraffic";
      case UNKNOWN -> "Queued";
    };
  }

  /** A sentence; empty while it is active. */
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
