package dev.activator.embedded.api.cache;

import dev.activator.loop.Loop;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All watches of one cache, from the request for one to its end.
 *
 * <p>
 * <b>Threads.</b> Belongs to the cache's loop.
 */
final class Watchers {
  private static final Logger log = LoggerFactory.getLogger(Watchers.class);

  private final Loop loop;
  private final CacheSettings settings;
  private final WatcherRegistry registry = new WatcherRegistry();
  private final Dispatcher dispatcher;

  Watchers(Loop loop, CacheSettings settings) {
    this.loop = loop;
    this.settings = settings;
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
    registry.all().forEach(registry::remove);
    dispatcher.restart(revision);
  }

  void add(Watcher watcher) {
    registry.add(watcher);
  }

  /** The watcher has room again, or is gone: nobody waits for it longer than needed. */
  void resumed(Watcher watcher) {
    watcher.drain();
    if (watcher.ended()) {
      registry.remove(watcher);
    }
    dispatcher.resumed();
  }

  void remove(Watcher watcher) {
    watcher.end();
    registry.remove(watcher);
    dispatcher.resumed();
  }

  /** The newest revision of which every watcher knows all that concerns it. */
  long dispatched() {
    return dispatcher.revision();
  }

  int count() {
    return registry.all().size();
  }

  private void tooSlow(Watcher watcher) {
    log.debug("A watch ends: its client does not take the events fast enough");
    watcher.terminate();
    if (watcher.ended()) {
      registry.remove(watcher);
    }
  }
}
