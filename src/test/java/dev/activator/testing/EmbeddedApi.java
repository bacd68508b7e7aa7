package dev.activator.testing;

import dev.activator.embedded.api.ApiServer;
import dev.activator.embedded.api.Disruptions;
import dev.activator.embedded.api.cache.CacheSettings;
import dev.activator.embedded.api.faults.Faults;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Restart;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A Kubernetes API on a free port of this machine, until it is closed. */
public final class EmbeddedApi implements AutoCloseable {
  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final Loop loop;
  private final ApiStore store;
  private final ApiServer server;

  private EmbeddedApi(ApiStore store, CacheSettings settings, UnaryOperator<Loop> clock) {
    this.store = store;
    this.loop = clock.apply(new NettyLoop(threads.next()));
    this.server = new ApiServer(store, loop, new InetSocketAddress("127.0.0.1", 0), settings);
    server.start();
  }

  public static EmbeddedApi start() {
    return start(CacheSettings.DEFAULT);
  }

  public static EmbeddedApi start(CacheSettings settings) {
    return new EmbeddedApi(new ApiStore(Clock.systemUTC()), settings, UnaryOperator.identity());
  }

  /** One whose time moves only by {@link #advance}. */
  public static EmbeddedApi stepped() {
    return new EmbeddedApi(new ApiStore(Clock.systemUTC()), CacheSettings.DEFAULT,
        SteppedLoop::new);
  }

  /** Moves the time of one that was started stepped. */
  public void advance(Duration by) {
    ((SteppedLoop) loop).advance(by);
  }

  /** What it serves; writes to it are seen by every client. */
  public ApiStore store() {
    return store;
  }

  public String url() {
    return "http://127.0.0.1:" + port();
  }

  public int port() {
    return server.port();
  }

  /** What can be made to go wrong with requests, and the record of them. */
  public Faults faults() {
    return server.faults();
  }

  /** What can be made to go wrong with the server as a whole. */
  public Disruptions disruptions() {
    return server.disruptions();
  }

  /** Stops and starts again on the same port. */
  public void restart(Restart how) {
    server.restart(how);
  }

  /** Ends all watches, as servers do now and then. */
  public void endWatches() {
    server.endWatches();
  }

  @Override
  public void close() {
    server.stop();
    threads.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
