package dev.activator.lifecycle;

import dev.activator.lifecycle.Readiness.NotReady;
import dev.activator.lifecycle.Readiness.Ready;

/**
 * Records whether the activator is synced, linked to the autoscaler and draining, and derives its
 * readiness.
 *
 * <p><b>Threads.</b> Any may call.
 */
public final class ActivatorHealth {
  /** The message of Knative's activator. */
  public static final String NO_LINK = "connection has not yet been established";

  private final AutoscalerReadinessPolicy policy;
  private volatile boolean synced;
  private volatile boolean linked;
  private volatile boolean everLinked;
  private volatile boolean linkTimedOut;
  private volatile boolean draining;

  public ActivatorHealth(AutoscalerReadinessPolicy policy) {
    this.policy = policy;
  }

  public void synced() {
    synced = true;
  }

  public void link(boolean up) {
    everLinked |= up;
    linked = up;
  }

  /**
   * Call when the link could not be opened in time. With {@code STARTUP}, the process then becomes
   * ready without the autoscaler.
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

  public boolean isDraining() {
    return draining;
  }

  /**
   * <b>Source.</b> The messages are those of Knative's {@code HealthHandler}. In Knative a lost
   * link always makes the process unready, and the liveness probe restarts it after two minutes, so
   * one missing autoscaler takes all activators down.
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
    return linkedEnough ? new Ready() : new NotReady(NO_LINK);
  }

  /** Decides when readiness needs the link to the autoscaler. */
  public enum AutoscalerReadinessPolicy {
    /**
     * Only until the link has been up once, or could not be opened in time. A later loss only logs a
     * warning.
     */
    STARTUP,
    ALWAYS,
    NEVER
  }
}
