package dev.activator.cluster.informer;

import dev.activator.loop.Loop;
import java.time.Duration;

/**
 * How a handler is called.
 *
 * @param resync zero for never
 */
public record HandlerOptions(String name, Loop loop, Duration resync) {
  public static HandlerOptions on(Loop loop, String name) {
    return new HandlerOptions(name, loop, Duration.ZERO);
  }

  /** Rounded up to the informer's checks. */
  public HandlerOptions resyncedEvery(Duration period) {
    return new HandlerOptions(name, loop, period);
  }
}
