package dev.activator.embedded.api;

import dev.activator.embedded.api.cache.CacheSettings;
import dev.activator.embedded.api.cache.Feed;
import dev.activator.embedded.api.cache.WatchCache;
import dev.activator.embedded.api.faults.Faults;
import dev.activator.embedded.api.faults.FaultyHandler;
import dev.activator.embedded.api.http.ApiRoutes;
import dev.activator.embedded.api.http.Caches;
import dev.activator.embedded.api.http.CustomCaches;
import dev.activator.embedded.api.http.Entrance;
import dev.activator.embedded.api.object.Kind;
import dev.activator.embedded.api.object.Kinds;
import dev.activator.embedded.api.object.Subscription;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Restart;
import dev.activator.loop.Loop;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves a store as a Kubernetes API over plain HTTP, to callers on this machine.
 *
 * <p>
 * <b>Threads.</b> Start and stop it from one thread, not a loop's. The caches live on the loop it
 * is given; connections have threads of their own.
 *
 * <p>
 * <b>Errors.</b> Starting fails if the port is taken. A bad client costs it nothing but the
 * client's connection.
 */
public final class ApiServer {
  private static final Logger log = LoggerFactory.getLogger(ApiServer.class);
  private static final Duration START_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);
  /** All watches end within this, and so their clients do not come back all at once. */
  private static final Duration FAREWELL = Duration.ofSeconds(1);

  private final ApiStore store;
  private final Loop loop;
  private final CacheSettings settings;
  private final Faults faults;
  private InetSocketAddress address;
  private @Nullable Running running;

  /** What there is between start and stop. */
  private record Running(ApiListener listener, ApiRoutes routes, Subscription feeding,
      CustomCaches custom, Disruptions disruptions) {}

  /** A server for this address; port 0 takes a free one, and the same at every later start. */
  public ApiServer(ApiStore store, Loop loop, InetSocketAddress address) {
    this(store, loop, address, CacheSettings.DEFAULT);
  }

  public ApiServer(ApiStore store, Loop loop, InetSocketAddress address, CacheSettings settings) {
    this.store = store;
    this.loop = loop;
    this.address = address;
    this.settings = settings;
    this.faults = new Faults(loop, store::revision);
  }

  /**
   * Fills the caches and begins to listen.
   *
   * @throws IllegalStateException if the address cannot be had, saying which
   */
  public void start() {
    if (running != null) {
      throw new IllegalStateException("the embedded API runs already");
    }
    var caches = new LinkedHashMap<Kind, WatchCache>();
    Kinds.all()
        .forEach(kind -> caches.put(kind, new WatchCache(kind, loop, settings, store::revision)));
    var custom = new CustomCaches(store, loop, settings);
    var routes = new ApiRoutes(store, new Caches(caches, custom), new SecureRandom());
    var handler = new FaultyHandler(routes.handler(), faults);
    var listener = new ApiListener(address, new Entrance(handler));
    listener.open();
    address = listener.address();
    var feed = new Feed(store, caches, loop);
    running = new Running(listener, routes, feed.start(), custom,
        new Disruptions(faults, loop, feed, listener));
    awaitFilled(feed);
    log.info("The embedded Kubernetes API listens on {}", address);
  }

  private static void awaitFilled(Feed feed) {
    try {
      if (!feed.awaitFilled(START_TIMEOUT)) {
        log.warn("The caches of the embedded Kubernetes API are not filled yet");
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** The port it listens on. */
  public int port() {
    return serving().listener().address().getPort();
  }

  /** What can be made to go wrong with requests, and the record of them. */
  public Faults faults() {
    return faults;
  }

  /** What can be made to go wrong with the server as a whole. */
  public Disruptions disruptions() {
    return serving().disruptions();
  }

  /** Ends all watches, as a server does now and then; clients come back. */
  public void endWatches() {
    serving().routes().endWatches(loop, Duration.ZERO);
  }

  /** Stops, and starts again on the same port with these data. Rules of faults stay. */
  public void restart(Restart how) {
    stop();
    store.restart(how);
    start();
  }

  /**
   * Stops listening, lets what is under way come to its end, watches included, and closes all
   * connections. Twice is once.
   */
  public void stop() {
    var stopping = running;
    if (stopping == null) {
      return;
    }
    running = null;
    stopping.listener().retire();
    stopping.feeding().close();
    stopping.custom().close();
    faults.release();
    stopping.routes().close(loop, FAREWELL);
    if (!faults.awaitQuiet(STOP_TIMEOUT)) {
      log.warn("Some requests to the embedded Kubernetes API are cut off: they take too long");
    }
    stopping.listener().close(STOP_TIMEOUT);
    log.info("The embedded Kubernetes API stopped");
  }

  private Running serving() {
    var serving = running;
    if (serving == null) {
      throw new IllegalStateException("the embedded API does not run");
    }
    return serving;
  }
}
