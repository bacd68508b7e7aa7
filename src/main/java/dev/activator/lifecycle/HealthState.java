package dev.activator.lifecycle;

import java.util.concurrent.atomic.AtomicReference;

/**
 * The process's health as it changes.
 *
 * <p>
 * <b>Threads.</b> Any thread may tell and ask.
 */
public final class HealthState {
  private final AtomicReference<Health> health = new AtomicReference<>(Health.STARTING);
  private final LinkNeed need;

  public HealthState(LinkNeed need) {
    this.need = need;
  }

  /** The informers have seen everything once. */
  public void synced() {
    health.updateAndGet(Health::withSynced);
  }

  /** The autoscaler's connection is up, or is not any more. */
  public void link(boolean up) {
    health.updateAndGet(now -> now.withLink(up));
  }

  /** The process was told to end. */
  public void draining() {
    health.updateAndGet(Health::withDraining);
  }

  public Readiness readiness() {
    return health.get().readiness(need);
  }
}
