package dev.activator.cluster.informer;

import dev.activator.loop.Loop;
import java.time.Duration;

/**
 * How a handler wants to be told: by default of every change by itself, and of nothing twice.
 *
 * @param name of the listener, in logs and views
 * @param loop where it is called; one of its own if it may block
 * @param backlog what becomes of changes while it is busy
 * @param resync how often to be told of everything again; zero for never
 * @param unchanged whether to hear of what a list shows once more as it was
 */
public record HandlerOptions(String name, Loop loop, Backlog backlog, Duration resync,
    Unchanged unchanged) {
  /** What becomes of changes that wait. */
  public enum Backlog {
    EACH_CHANGE, LATEST_OF_EACH_KEY
  }

  /** What becomes of an object that is listed again with the same version. */
  public enum Unchanged {
    SKIPPED, TOLD
  }

  public static HandlerOptions on(Loop loop, String name) {
    return new HandlerOptions(name, loop, Backlog.EACH_CHANGE, Duration.ZERO, Unchanged.SKIPPED);
  }

  /** Changes of one key become one while they wait, so that no more wait than there are keys. */
  public HandlerOptions latestOfEachKey() {
    return new HandlerOptions(name, loop, Backlog.LATEST_OF_EACH_KEY, resync, unchanged);
  }

  /** As near to this often as the informer looks; at most once a second. */
  public HandlerOptions resyncedEvery(Duration period) {
    return new HandlerOptions(name, loop, backlog, period, unchanged);
  }

  public HandlerOptions toldOfUnchanged() {
    return new HandlerOptions(name, loop, backlog, resync, Unchanged.TOLD);
  }

  <T> Pending<T> pending() {
    return switch (backlog) {
      case EACH_CHANGE -> new Pending.EachChange<>();
      case LATEST_OF_EACH_KEY -> new Pending.LatestOfEachKey<>();
    };
  }
}
