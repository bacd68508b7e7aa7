package dev.activator.cluster.informer;

import dev.activator.loop.Loop;
import java.time.Duration;

/**
 * @param resync zero for never
 * @param unchanged whether it is told of an object that a list shows unchanged
 */
public record HandlerOptions(String name, Loop loop, Duration resync, Unchanged unchanged) {
  public enum Unchanged {
    SKIPPED,
    TOLD
  }

  public static HandlerOptions on(Loop loop, String name) {
    return new HandlerOptions(name, loop, Duration.ZERO, Unchanged.SKIPPED);
  }

  /** Rounded up to the informer's checks. */
  public HandlerOptions resyncedEvery(Duration period) {
    return new HandlerOptions(name, loop, period, unchanged);
  }

  public HandlerOptions toldOfUnchanged() {
    return new HandlerOptions(name, loop, resync, Unchanged.TOLD);
  }
}
