package dev.activator.cluster.informer;

import dev.activator.loop.Loop;
import java.time.Duration;

/**
 * How a handler is called. Changes of one key that wait for it become one change, so no more wait
 * than there are keys.
 *
 * @param name in logs and views
 * @param loop where it is called; one of its own if it may block
 * @param resync how often it is told of everything again; zero for never
 * @param unchanged whether it is told of an object that a list shows unchanged
 */
public record HandlerOptions(String name, Loop loop, Duration resync, Unchanged unchanged) {
  /** What becomes of an object that is listed again with the same version. */
  public enum Unchanged {
    SKIPPED, TOLD
  }

  public static HandlerOptions on(Loop loop, String name) {
    return new HandlerOptions(name, loop, Duration.ZERO, Unchanged.SKIPPED);
  }

  /** As near to this often as the informer checks; at most once a second. */
  public HandlerOptions resyncedEvery(Duration period) {
    return new HandlerOptions(name, loop, period, unchanged);
  }

  public HandlerOptions toldOfUnchanged() {
    return new HandlerOptions(name, loop, resync, Unchanged.TOLD);
  }
}
