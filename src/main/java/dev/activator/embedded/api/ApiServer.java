package dev.activator.embedded.api;

import dev.activator.embedded.api.cache.CacheSettings;
import dev.activator.embedded.api.cache.Feed;
import dev.activator.embedded.api.cache.WatchCache;
import dev.activator.embedded.api.http.ApiRoutes;
import dev.activator.embedded.api.http.Caches;
import dev.activator.embedded.api.http.CustomCaches;
import dev.activator.embedded.api.http.Entrance;
import dev.activator.loop.Loop;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

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
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);
  private static final int IO_THREADS = 2;

  private final ApiStore store;
  private final Loop loop;
  private final InetSocketAddress address;
  private final CacheSettings settings;
  private @Nullable Running running;

  /** What there is between start and stop. */
  private record Running(DisposableServer server, LoopResources threads, Subscription feed,
      List<WatchCache> caches, CustomCaches custom) {}

  /** A server for this address; port 0 takes a free one. */
  public ApiServer(ApiStore store, Loop loop, InetSocketAddress address) {
    this(store, loop, address, CacheSettings.DEFAULT);
  }

  public ApiServer(ApiStore store, Loop loop, InetSocketAddress address, CacheSettings settings) {
    this.store = store;
    this.loop = loop;
    this.address = address;
    this.settings = settings;
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
    var threads = LoopResources.create("embedded-api", IO_THREADS, true);
    var custom = new CustomCaches(store, loop, settings);
    var routes = new ApiRoutes(store, new Caches(caches, custom), new SecureRandom());
    var server = bind(threads, new Entrance(routes.handler()));
    var feed = new Feed(store, caches, loop).start();
    running = new Running(server, threads, feed, List.copyOf(caches.values()), custom);
    log.info("The embedded Kubernetes API listens on {}", server.address());
  }

  /** The port it listens on. */
  public int port() {
    if (running == null) {
      throw new IllegalStateException("the embedded API does not run");
    }
    return running.server().port();
  }

  /** Ends all watches, as a server does now and then; clients come back. */
  public void endWatches() {
    var serving = running;
    if (serving != null) {
      loop.execute(() -> serving.caches().forEach(WatchCache::endWatches));
      serving.custom().endWatches();
    }
  }

  /** Ends all watches and stops listening. Twice is once. */
  public void stop() {
    var stopping = running;
    if (stopping == null) {
      return;
    }
    stopping.feed().close();
    endWatches();
    stopping.custom().close();
    running = null;
    stopping.server().disposeNow(STOP_TIMEOUT);
    stopping.threads().disposeLater(Duration.ZERO, STOP_TIMEOUT)
        .block(STOP_TIMEOUT.multipliedBy(2));
    log.info("The embedded Kubernetes API stopped");
  }

  private DisposableServer bind(LoopResources threads, Entrance handler) {
    try {
      return HttpServer.create().runOn(threads).bindAddress(() -> address).handle(handler)
          .bindNow();
    } catch (ChannelBindException taken) {
      threads.dispose();
      throw new IllegalStateException("the embedded Kubernetes API cannot listen on "
          + address.getHostString() + ":" + address.getPort() + ": " + taken.getMessage(), taken);
    }
  }
}
