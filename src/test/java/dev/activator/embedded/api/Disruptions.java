package dev.activator.embedded.api;

import static org.awaitility.Awaitility.await;

import dev.activator.loop.NettyTransport;
import dev.activator.embedded.api.cache.FeedFaults;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.loop.Loop;
import dev.activator.testing.faults.Faults;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.netty.ChannelBindException;

/**
 * Faults that hit a server as a whole, or all that read one kind. With no kind named, all are hit.
 * Healing the server's faults undoes these too.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. Each call returns before it has its effect, which comes
 * before that of any write made afterwards.
 *
 * <p><b>Units.</b> Time is the loop's.
 */
public final class Disruptions {
  private final EmbeddedApiServer server;
  private final Loop loop;
  private final Faults faults;
  private final FeedFaults feed;
  private final ChannelGroup connections;
  private boolean closed;

  /** Those of a server that has started, and whose commits pass this feed. */
  public Disruptions(EmbeddedApiServer server, Loop loop, Faults faults, FeedFaults feed,
      ChannelGroup connections) {
    this.server = server;
    this.loop = loop;
    this.faults = faults;
    this.feed = feed;
    this.connections = connections;
  }

  /** For so long, the caches hear nothing of what is written. */
  public void freeze(Duration duration, Kind... kinds) {
    feed.freeze(all(kinds));
    untilHealed(duration, () -> feed.free(all(kinds)));
  }

  /** The caches hear so much later of what is written, until this is healed. */
  public void delay(Duration delay, Kind... kinds) {
    feed.delay(all(kinds), delay);
    faults.remedy(() -> feed.free(all(kinds)));
  }

  /** The caches forget their events: old revisions, exact lists and page tokens get 410. */
  public void compact(Kind... kinds) {
    feed.compact(server.caches(), all(kinds));
  }

  /** For so long, the caches have nothing to serve; all watches of them end, others get 429. */
  public void takeDown(Duration duration, Kind... kinds) {
    feed.takeDown(server.caches(), all(kinds));
    untilHealed(duration, () -> feed.fill(server.caches(), all(kinds)));
  }

  /** For so long, connections are refused; those there are are reset. */
  public synchronized void refuse(Duration duration) {
    server.listening().channel().close().awaitUninterruptibly();
    connections
        .forEach(channel -> channel.eventLoop().execute(() -> NettyTransport.reset(channel)));
    untilHealed(duration, this::listen);
  }

  /** The server is about to stop: it does not listen again. */
  public synchronized void close() {
    closed = true;
  }

  private synchronized void listen() {
    if (!closed) {
      // A program that another test starts holds the closed port until it runs.
      await().ignoreExceptionsInstanceOf(ChannelBindException.class).until(() -> {
        server.listen();
        return true;
      });
    }
  }

  private void untilHealed(Duration duration, Runnable end) {
    var done = new AtomicBoolean();
    Runnable once = () -> {
      if (!done.getAndSet(true)) {
        end.run();
      }
    };
    var remedy = faults.remedy(once);
    loop.schedule(duration, () -> {
      faults.forget(remedy);
      once.run();
    });
  }

  private static List<Kind> all(Kind... kinds) {
    return kinds.length == 0 ? BuiltInKinds.all() : List.of(kinds);
  }
}
