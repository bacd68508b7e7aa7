package dev.activator.testing;

import static org.awaitility.Awaitility.await;

import dev.activator.embedded.api.EmbeddedApiServer;
import dev.activator.embedded.api.Disruptions;
import dev.activator.embedded.api.cache.WatchCacheSettings;
import dev.activator.embedded.api.cache.FeedFaults;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Restart;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.FaultHooks;
import dev.activator.testing.faults.Faults;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import dev.activator.testing.faults.When;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
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
  private final WatchCacheSettings settings;
  private final Faults faults;
  private final SocketChannel port = hold();
  private EmbeddedApiServer server;
  private Disruptions disruptions;

  private EmbeddedApi(ApiStore store, WatchCacheSettings settings, UnaryOperator<Loop> clock) {
    this.store = store;
    this.settings = settings;
    this.loop = clock.apply(new NettyLoop(threads.next()));
    this.faults = new Faults(loop, store::revision);
    serve();
  }

  /** A program that another test starts holds the port of a server that was stopped until it runs. */
  private void serve() {
    await().ignoreExceptionsInstanceOf(IllegalStateException.class).until(this::serves);
  }

  private boolean serves() {
    var feed = new FeedFaults(loop);
    var connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    server = new EmbeddedApiServer(store, loop, new InetSocketAddress("127.0.0.1", port()),
        settings,
        new FaultHooks(faults, feed, connections));
    server.start();
    disruptions = new Disruptions(server, loop, faults, feed, connections);
    return true;
  }

  private void stop() {
    disruptions.close();
    faults.release();
    server.stop();
  }

  /** A socket that is bound and does not listen: no other takes the port while the server is down. */
  private static SocketChannel hold() {
    try {
      return SocketChannel.open().setOption(StandardSocketOptions.SO_REUSEADDR, true)
          .bind(new InetSocketAddress("127.0.0.1", FreePort.next()));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  public static EmbeddedApi start() {
    return start(WatchCacheSettings.DEFAULT);
  }

  public static EmbeddedApi start(WatchCacheSettings settings) {
    return new EmbeddedApi(new ApiStore(Clock.systemUTC()), settings, UnaryOperator.identity());
  }

  /** One whose time moves only by {@link #advance}. */
  public static EmbeddedApi stepped() {
    return new EmbeddedApi(new ApiStore(Clock.systemUTC()), WatchCacheSettings.DEFAULT,
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
    return port.socket().getLocalPort();
  }

  /** What can be made to go wrong with requests, and the record of them. */
  public Faults faults() {
    return faults;
  }

  /** What can be made to go wrong with the server as a whole. */
  public Disruptions disruptions() {
    return disruptions;
  }

  /** Stops and starts again on the same port. */
  public void restart(Restart how) {
    stop();
    how.of(store);
    serve();
  }

  /** Ends all watches, as servers do now and then. */
  public void endWatches() {
    faults.strike(Match.requests(Verb.WATCH), new Fault.EndWatch(When.now()));
  }

  @Override
  public void close() {
    stop();
    try {
      port.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    threads.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
