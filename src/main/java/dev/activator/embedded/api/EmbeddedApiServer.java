package dev.activator.embedded.api;

import dev.activator.embedded.api.cache.WatchCacheSettings;
import dev.activator.embedded.api.cache.WatchCaches;
import dev.activator.embedded.api.http.ApiRoutes;
import dev.activator.embedded.api.http.ApiServerTestHooks;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.loop.Loop;
import io.netty.channel.ChannelOption;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/**
 * The HTTP server of the embedded Kubernetes API. It serves the objects of a store to callers on
 * this machine.
 *
 * <p><b>Threads.</b> One thread starts and stops the server, once, and may block. The caches use
 * the given loop.
 */
public final class EmbeddedApiServer {
  private static final Logger log = LoggerFactory.getLogger(EmbeddedApiServer.class);
  private static final int IO_THREADS = 2;
  private static final Duration START_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);
  /**
   * The time over which the ends of watches are spread at the stop, so that clients do not all
   * reconnect at once.
   */
  private static final Duration WATCH_END_SPREAD = Duration.ofSeconds(1);

  private final Loop loop;
  private final InetSocketAddress address;
  private final ApiRoutes routes;
  private final WatchCaches caches;
  private final LoopResources threads = LoopResources.create("embedded-api", IO_THREADS, true);
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final HttpServer http;
  private volatile @Nullable DisposableServer listening;

  /** @param address port 0 means any free port */
  public EmbeddedApiServer(ApiStore store, Loop loop, InetSocketAddress address) {
    this(store, loop, address, WatchCacheSettings.DEFAULT, ApiServerTestHooks.NONE);
  }

  public EmbeddedApiServer(ApiStore store, Loop loop, InetSocketAddress address,
      WatchCacheSettings settings,
      ApiServerTestHooks hooks) {
    this.loop = loop;
    this.address = address;
    this.caches = new WatchCaches(store, loop, settings, hooks::commits);
    this.routes = new ApiRoutes(store, caches, new SecureRandom(), hooks);
    this.http = hooks.server(HttpServer.create()).runOn(threads)
        .option(ChannelOption.SO_REUSEADDR, true).bindAddress(() -> address)
        .channelGroup(connections).handle(routes.handler());
  }

  /**
   * Starts the server. Blocks until the caches are filled.
   *
   * @throws IllegalStateException if the address is not available; the message names it
   */
  public void start() {
    try {
      listen();
    } catch (ChannelBindException e) {
      threads.dispose();
      throw new IllegalStateException("the embedded Kubernetes API cannot listen on "
          + address.getHostString() + ":" + address.getPort() + ": " + e.getMessage()
          + "; another port is set by activator.embedded.api-port", e);
    }
    awaitFilled(caches.start());
    log.info("The embedded Kubernetes API listens on {}:{}", address.getHostString(), port());
  }

  private static void awaitFilled(CompletableFuture<Void> filled) {
    try {
      filled.get(START_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException e) {
      log.warn("The caches of the embedded Kubernetes API are not filled yet", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  void listen() {
    listening = http.bindNow();
  }

  public int port() {
    return listening().port();
  }

  DisposableServer listening() {
    var server = listening;
    if (server == null) {
      throw new IllegalStateException("the embedded API does not run");
    }
    return server;
  }

  WatchCaches caches() {
    return caches;
  }

  /** Stops the server: it ends watches, and waits for other requests. Idempotent. */
  public void stop() {
    var server = listening;
    if (server == null) {
      return;
    }
    listening = null;
    caches.stop();
    routes.close(loop, WATCH_END_SPREAD);
    try {
      server.disposeNow(STOP_TIMEOUT);
    } catch (IllegalStateException e) {
      log.warn("Some requests to the embedded Kubernetes API are cut off after {}", STOP_TIMEOUT);
    }
    if (!connections.close().awaitUninterruptibly(STOP_TIMEOUT.toMillis(),
        TimeUnit.MILLISECONDS)) {
      log.warn("{} connections to the embedded Kubernetes API did not close in {}",
          connections.size(), STOP_TIMEOUT);
    }
    try {
      threads.disposeLater(Duration.ZERO, STOP_TIMEOUT).block(STOP_TIMEOUT.multipliedBy(2));
    } catch (IllegalStateException e) {
      log.warn("The threads of the embedded Kubernetes API did not end in {}", STOP_TIMEOUT);
    }
    log.info("The embedded Kubernetes API stopped");
  }
}
