package dev.activator.embedded.api.cache;

import dev.activator.loop.Loop;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All watches of one cache, from the request for one to its end.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop, but for {@link #terminated}.
 */
final class Watchers {
  private static final Logger log = LoggerFactory.getLogger(Watchers.class);

  private final Loop loop;
  private final CacheSettings settings;
  private final WatcherRegistry registry;
  private final Dispatcher dispatcher;
  private volatile long terminated;

  Watchers(Loop loop, CacheSettings settings, List<Indexer> indexers) {
    this.loop = loop;
    this.settings = settings;
    this.registry = new WatcherRegistry(indexers);
    this.dispatcher = new Dispatcher(loop, registry, this::tooSlow);
  }

  Loop loop() {
    return loop;
  }

  CacheSettings settings() {
    return settings;
  }

  void dispatch(CacheEvent event) {
    dispatcher.dispatch(event);
  }

  void progress(long revision) {
    dispatcher.progress(revision);
  }

  /** Ends every watch: what follows does not join on to what they know. */
  void endAll(long revision) {
    registry.all().forEach(Watcher::end);
    dispatcher.restart(revision);
  }

  void add(Watcher watcher) {
    registry.add(watcher);
  }

  /** Keeps nothing of a watcher that ended. */
  void forget(Watcher watcher) {
    registry.remove(watcher);
  }

  /** A watcher has room again, or is gone: nobody waits for it longer than needed. */
  void resumed() {
    dispatcher.resumed();
  }

  /** How many events may wait for who watches this, while the window has room for so many. */
  int buffer(Selection selection, int window) {
    return settings.buffers().size(window, registry.trigger(selection));
  }

  /** The newest revision of which every watcher knows all that concerns it. */
  long dispatched() {
    return dispatcher.revision();
  }

  int count() {
    return registry.all().size();
  }

  /** How many were ended for being too slow. */
  long terminated() {
    return terminated;
  }

  private void tooSlow(Watcher watcher) {
    log.debug("A watch ends: its client does not take the events fast enough");
    terminated = terminated + 1;
    watcher.terminate();
  }
}
