package dev.activator.embedded.api.cache;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The dispatcher that passes events to the watches of one cache, in order. If buffers are full, all
 * watches wait for a moment. Then the watches whose buffers are still full are ended. Lists and new
 * watches never wait.
 *
 * <p><b>Source.</b> {@code dispatchEvent} in {@code cacher/cacher.go} of Kubernetes' apiserver.
 */
final class WatchDispatcher {
  private static final Logger log = LoggerFactory.getLogger(WatchDispatcher.class);

  private final Loop loop;
  private final WatchCacheSettings settings;
  private final WatchIndex watches;
  private final Queue<WatchCacheEvent> pending = new ArrayDeque<>();
  private List<CacheWatcher> blocked = List.of();
  private Loop.@Nullable Timer timeout;
  private TimeBudget budget;
  private long waitingSinceNanos;
  private long revision;

  /**
   * The time budget for waiting for slow watches. It grows slowly and is limited, so that a watch
   * that is always slow hardly delays the others.
   *
   * <p><b>Source.</b> {@code cacher/time_budget.go} in Kubernetes' apiserver.
   */
  private record TimeBudget(long savedNanos, long atNanos) {
    private static final long CAP_NANOS = Duration.ofMillis(100).toNanos();
    private static final long GROWS_BY_ONE_IN = 20;

    TimeBudget at(long nowNanos) {
      long grown = savedNanos + (nowNanos - atNanos) / GROWS_BY_ONE_IN;
      return new TimeBudget(Math.min(CAP_NANOS, grown), nowNanos);
    }

    TimeBudget spent(long nanos) {
      return new TimeBudget(Math.max(0, savedNanos - nanos), atNanos);
    }
  }

  WatchDispatcher(Loop loop, WatchCacheSettings settings, List<IndexedField> indexers) {
    this.loop = loop;
    this.settings = settings;
    this.watches = new WatchIndex(indexers);
    this.budget = new TimeBudget(TimeBudget.CAP_NANOS, loop.nanoTime());
  }

  Loop loop() {
    return loop;
  }

  WatchCacheSettings settings() {
    return settings;
  }

  void add(CacheWatcher watch) {
    watches.add(watch);
  }

  void remove(CacheWatcher watch) {
    watches.remove(watch);
  }

  int bufferSize(ObjectSelection selection, int window) {
    return settings.buffers().size(window, watches.trigger(selection));
  }

  int count() {
    return watches.all().size();
  }

  /** The revision up to which every watch has all matching events. */
  long revision() {
    return revision;
  }

  void dispatch(WatchCacheEvent event) {
    pending.add(event);
    run();
  }

  void progress(long newest) {
    if (pending.isEmpty()) {
      revision = Math.max(revision, newest);
    }
  }

  void resumed() {
    if (!blocked.isEmpty()) {
      run();
    }
  }

  /** Ends all watches, because the next events do not continue the previous ones. */
  void endAll(long newest) {
    watches.all().forEach(CacheWatcher::end);
    pending.clear();
    release();
    revision = newest;
  }

  private void run() {
    while (!pending.isEmpty() && offer(pending.element())) {
      revision = pending.remove().revision();
    }
  }

  private boolean offer(WatchCacheEvent event) {
    var candidates = blocked.isEmpty() ? watches.candidates(event) : blocked;
    var full = new ArrayList<CacheWatcher>();
    for (var watch : candidates) {
      if (!watch.offer(event)) {
        full.add(watch);
      }
    }
    if (full.isEmpty()) {
      release();
      return true;
    }
    blocked = full;
    if (timeout == null) {
      waitingSinceNanos = loop.nanoTime();
      budget = budget.at(waitingSinceNanos);
      timeout = loop.schedule(Duration.ofNanos(budget.savedNanos()), this::giveUp);
    }
    return false;
  }

  private void giveUp() {
    timeout = null;
    budget = budget.spent(loop.nanoTime() - waitingSinceNanos);
    var slow = blocked;
    blocked = List.of();
    for (var watch : slow) {
      log.debug("A watch ends: its client does not take the events fast enough");
      watch.terminate();
    }
    // The event is offered to all watches again. Those that have it ignore it.
    run();
  }

  private void release() {
    var timer = timeout;
    if (timer != null) {
      timer.cancel();
      timeout = null;
      budget = budget.spent(loop.nanoTime() - waitingSinceNanos);
    }
    blocked = List.of();
  }
}
