package dev.activator.lifecycle;

import dev.activator.lifecycle.Readiness.NotReady;
import dev.activator.lifecycle.Readiness.Ready;

/**
 * What is known of the process's health, as a value.
 *
 * @param synced whether the informers have seen everything once
 * @param linked whether the autoscaler's connection is up
 * @param everLinked whether it was up at any time
 * @param draining whether the process was told to end
 */
public record Health(boolean synced, boolean linked, boolean everLinked, boolean draining) {
  /** A process that has just started. */
  public static final Health STARTING = new Health(false, false, false, false);

  public Health withSynced() {
    return new Health(true, linked, everLinked, draining);
  }

  public Health withLink(boolean up) {
    return new Health(synced, up, everLinked || up, draining);
  }

  public Health withDraining() {
    return new Health(synced, linked, everLinked, true);
  }

  /**
   * Whether such a process may be sent requests.
   *
   * <p>
   * <b>Source.</b> The messages are those of Knative's {@code HealthHandler}; there a link that is
   * lost at any time makes the process unready, which takes all activators away at once when the
   * autoscaler restarts.
   */
  public Readiness readiness(LinkNeed need) {
    if (draining) {
      return new NotReady("received SIGTERM from kubelet");
    }
    if (!synced) {
      return new NotReady("the informers have not synced");
    }
    boolean linkedEnough = switch (need) {
      case STARTUP -> everLinked;
      case ALWAYS -> linked;
      case NEVER -> true;
    };
    return linkedEnough ? new Ready() : new NotReady("connection has not yet been established");
  }
}
