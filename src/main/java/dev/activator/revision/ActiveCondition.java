package dev.activator.revision;

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
