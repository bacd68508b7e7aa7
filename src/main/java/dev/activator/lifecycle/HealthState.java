package dev.activator.lifecycle;

import dev.activator.lifecycle.Readiness.NotReady;
import dev.activator.lifecycle.Readiness.Ready;

/**
 * What decides whether the process is ready, as it changes.
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

  /** The connection to the autoscaler is up, or is lost. */
  public void link(boolean up) {
    everLinked |= up;
    linked = up;
  }

  /**
   * The start has waited long enough for the connection to the autoscaler. With the policy {@code
   * STARTUP} the process serves without it from now on.
   */
  public void linkTimedOut() {
    linkTimedOut = true;
  }

  /** Whether requests are served although the autoscaler is not connected. */
  public boolean servesWithoutLink() {
    return !linked && readiness() instanceof Ready;
  }

  /** The process was told to end. */
  public void draining() {
    draining = true;
  }

  /**
   * Whether the process may be sent requests.
   *
   * <p>
   * <b>Source.</b> The messages are those of Knative's {@code HealthHandler}. There a link that is lost
   * at any time makes the process unready, and its manifest asks the same port for liveness: an
   * autoscaler that is away makes all activators unready at once, and restarts them after two minutes.
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
