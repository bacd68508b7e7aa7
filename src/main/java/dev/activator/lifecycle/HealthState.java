package dev.activator.lifecycle;

import dev.activator.lifecycle.Readiness.NotReady;
import dev.activator.lifecycle.Readiness.Ready;

/**
 * The inputs of readiness.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 */
public final class HealthState {
  private final ReadinessPolicy policy;
  private volatile boolean synced;
  private volatile boolean linked;
  private volatile boolean everLinked;
  private volatile boolean linkTimedOut;
  private volatile boolean draining;

  public HealthState(ReadinessPolicy policy) {
    this.policy = policy;
  }

  /** The informers have listed everything once. */
  public void synced() {
    synced = true;
  }

  public void link(boolean up) {
    everLinked |= up;
    linked = up;
  }

  /**
   * Ends the start's wait for the autoscaler: with {@code STARTUP}, the process now serves without
   * it.
   */
  public void linkTimedOut() {
    linkTimedOut = true;
  }

  public boolean servesWithoutLink() {
    return !linked && readiness() instanceof Ready;
  }

  public void draining() {
    draining = true;
  }

  /**
   * <b>Source.</b> The messages are those of Knative's {@code HealthHandler}. There a lost link
   * makes the process unready at any time, and after two minutes the liveness probe restarts it:
   * one autoscaler that is away takes all activators down.
   */
  public Readiness readiness() {
    if (draining) {
      return new NotReady("received SIGTERM from kubelet");
    }
    if (!synced) {
      return new NotReady("the informers have not synced");
    }
    boolean linkedEnough = switch (policy) {
      case STARTUP -> everLinked || linkTimedOut;
      case ALWAYS -> linked;
      case NEVER -> true;
    };
    return linkedEnough ? new Ready() : new NotReady("connection has not yet been established");
  }
}
