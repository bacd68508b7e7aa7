package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.policy.TimeBudget;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Hands events to watchers, in order. When some cannot take one, all wait for them a moment; who
 * cannot take it then is too slow and is ended.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop. Lists and new watches never wait for it.
 *
 * <p>
 * <b>Source.</b> {@code dispatchEvent} in {@code cacher/cacher.go} of Kubernetes' apiserver.
 */
final class Dispatcher {
  private final Loop loop;
  private final WatcherRegistry watchers;
  private final Consumer<Watcher> tooSlow;
  private final Queue<CacheEvent> pending = new ArrayDeque<>();
  private List<Watcher> blocked = List.of();
  private Loop.@Nullable Timer patience;
  private TimeBudget budget;
  private long waitingSinceNanos;
  private long revision;

  Dispatcher(Loop loop, WatcherRegistry watchers, Consumer<Watcher> tooSlow) {
    this.loop = loop;
    this.watchers = watchers;
    this.tooSlow = tooSlow;
    this.budget = TimeBudget.full(loop.nanoTime());
  }

  /** The newest revision of which every watcher knows all that concerns it. */
  long revision() {
    return revision;
  }

  void dispatch(CacheEvent event) {
    pending.add(event);
    run();
  }

  /** Nothing happened up to this revision. */
  void progress(long newest) {
    if (pending.isEmpty()) {
      revision = Math.max(revision, newest);
    }
  }

  /** A watcher has room again. */
  void resumed() {
    if (!blocked.isEmpty()) {
      run();
    }
  }

  /** Forgets what is under way: all watchers were ended. */
  void restart(long newest) {
    pending.clear();
    release();
    revision = newest;
  }

  private void run() {
    while (!pending.isEmpty() && offer(pending.element())) {
      revision = pending.remove().revision();
    }
  }

  private boolean offer(CacheEvent event) {
    var candidates = blocked.isEmpty() ? watchers.candidates(event) : blocked;
    var full = new ArrayList<Watcher>();
    for (var watcher : candidates) {
      if (!watcher.offer(event)) {
        full.add(watcher);
      }
    }
    if (full.isEmpty()) {
      release();
      return true;
    }
    blocked = full;
    waitForThem();
    return false;
  }

  private void waitForThem() {
    if (patience == null) {
      waitingSinceNanos = loop.nanoTime();
      budget = budget.at(waitingSinceNanos);
      patience = loop.schedule(Duration.ofNanos(budget.savedNanos()), this::giveUp);
    }
  }

  private void giveUp() {
    patience = null;
    budget = budget.spent(loop.nanoTime() - waitingSinceNanos);
    var slow = blocked;
    blocked = List.of();
    slow.forEach(tooSlow);
    // Who was not blocked has this event already, and takes it again without a word.
    run();
  }

  private void release() {
    var timer = patience;
    if (timer != null) {
      timer.cancel();
      patience = null;
      budget = budget.spent(loop.nanoTime() - waitingSinceNanos);
    }
    blocked = List.of();
  }
}
