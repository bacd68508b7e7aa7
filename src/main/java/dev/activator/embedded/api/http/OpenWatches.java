package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.Watch;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The watches that are on. Any thread may call. */
final class OpenWatches {
  /** Few watches end sooner than many: nobody waits for the sake of a schedule. */
  private static final Duration LONGEST_GAP = Duration.ofMillis(10);

  private final Set<Watch> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  void add(Watch watch) {
    open.add(watch);
    if (closed) {
      watch.cancel();
    }
  }

  void remove(Watch watch) {
    open.remove(watch);
  }

  /** Ends all that are on now, and those that come later as they come. */
  void close(Loop loop, Duration over) {
    closed = true;
    end(loop, over);
  }

  /** Ends all that are on now, one after the other, within this time. */
  void end(Loop loop, Duration over) {
    var all = List.copyOf(open);
    long gapNanos = Math.min(LONGEST_GAP.toNanos(), over.toNanos() / Math.max(1, all.size()));
    for (int i = 0; i < all.size(); i++) {
      loop.schedule(Duration.ofNanos(i * gapNanos), all.get(i)::cancel);
    }
  }
}
