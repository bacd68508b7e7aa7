package dev.activator.stats;

import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.stats.policy.ReconnectSchedule;
import dev.activator.stats.policy.RevisionStat;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The connection over which the autoscaler is told. It is opened again for ever when it breaks;
 * what is to be sent meanwhile waits in the {@link Outbox}.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in, and never waits. The state belongs to {@code loop}.
 *
 * <p>
 * <b>Errors.</b> None are thrown. A connection that breaks after it has answered a ping is opened
 * again at once; one that did not get so far counts as an attempt that failed, so that a server
 * which accepts and closes is not called in a circle.
 *
 * <p>
 * <b>Source.</b> {@code pkg/websocket/connection.go} of Knative, which drops what it cannot send,
 * and may swap frames.
 */
public final class AutoscalerLink implements StatSink {
  private static final Logger log = LoggerFactory.getLogger(AutoscalerLink.class);

  private final Loop loop;
  private final StatSocket.Dialer dialer;
  private final String podName;
  private final LinkTimings timings;
  private final RandomGenerator random;
  private final Outbox outbox = new Outbox();
  private final List<LinkListener> listeners = new CopyOnWriteArrayList<>();
  private volatile boolean connected;
  private @Nullable Connection current;
  private Loop.@Nullable Timer redial;
  private int failures;
  private @Nullable String problem;
  private long changedNanos;
  private boolean closed;

  AutoscalerLink(Loop loop, StatSocket.Dialer dialer, String podName, LinkTimings timings,
      RandomGenerator random) {
    this.loop = loop;
    this.dialer = dialer;
    this.podName = podName;
    this.timings = timings;
    this.random = random;
    this.changedNanos = loop.nanoTime();
  }

  /**
   * A link that is not open yet.
   *
   * @param url such as {@code ws://autoscaler.knative-serving.svc.cluster.local:8080}; asked at each
   *     attempt to connect
   * @param podName this activator, by which the autoscaler tells reporters apart
   */
  public static AutoscalerLink to(Supplier<URI> url, NettyLoop loop, String podName,
      LinkTimings timings,
      RandomGenerator random) {
    return new AutoscalerLink(loop, new WebSocketDialer(url, loop), podName,
        timings, random);
  }

  /** Who hears of changes; to be set before {@link #open}. */
  public void onChange(LinkListener heard) {
    listeners.add(heard);
  }

  /** Connects, and stays so. */
  public void open() {
    loop.execute(this::dial);
  }

  /** Sends nothing more and closes the connection; it is not opened again. */
  public void close() {
    loop.execute(() -> {
      closed = true;
      if (redial != null) {
        redial.cancel();
      }
      if (current != null) {
        current.end();
      }
    });
  }

  /** Whether there is an open connection now. */
  public boolean connected() {
    return connected;
  }

  /** How the connection is; the answer comes from the link's loop. */
  public CompletableFuture<LinkView> view() {
    return CompletableFuture.supplyAsync(() -> new LinkView(dialer.toString(), connected,
        Duration.ofNanos(loop.nanoTime() - changedNanos), failures, problem), loop);
  }

  @Override
  public void firstRequest(RevisionStat stat) {
    loop.execute(() -> {
      outbox.first(stat.revision());
      flush();
    });
  }

  @Override
  public void report(List<RevisionStat> stats) {
    loop.execute(() -> {
      outbox.report(stats);
      flush();
    });
  }

  private void flush() {
    if (current != null && connected && !outbox.isEmpty() && current.socket.isWritable()) {
      current.socket.send(StatFrame.encode(podName, outbox.take()));
    }
  }

  private void dial() {
    if (!closed && current == null) {
      current = new Connection();
    }
  }

  /** One connection, from the attempt to its end. Calls that come after that mean nothing. */
  private final class Connection implements StatSocket.Events {
    private final StatSocket socket;
    private Loop.Timer deadline;
    private Loop.@Nullable Timer nextPing;
    private boolean answered;

    Connection() {
      socket = dialer.dial(this);
      deadline = loop.schedule(timings.handshake(),
          () -> closed("not open after " + timings.handshake()));
    }

    @Override
    public void opened() {
      if (current != this) {
        return;
      }
      connected = true;
      problem = null;
      changedNanos = loop.nanoTime();
      log.info("Connected to the autoscaler at {}", dialer);
      expectPong();
      pingLater();
      listeners.forEach(LinkListener::connected);
      flush();
    }

    @Override
    public void ponged() {
      if (current == this) {
        answered = true;
        outbox.ponged();
        expectPong();
      }
    }

    @Override
    public void closed(String why) {
      if (current != this) {
        return;
      }
      boolean wasOpen = connected;
      problem = why;
      end();
      failures = answered ? 0 : failures + 1;
      listeners.forEach(LinkListener::failed);
      if (wasOpen) {
        changedNanos = loop.nanoTime();
        log.warn("The connection to the autoscaler at {} is lost: {}", dialer, why);
        listeners.forEach(LinkListener::lost);
      } else {
        logFailure(why);
      }
      redial = loop.schedule(ReconnectSchedule.pause(failures, random), AutoscalerLink.this::dial);
    }

    private void logFailure(String why) {
      var level = failures % ReconnectSchedule.ATTEMPTS == 1 ? Level.WARN : Level.DEBUG;
      log.atLevel(level).log("The autoscaler at {} cannot be reached, attempt {}: {}", dialer,
          failures, why);
    }

    void end() {
      deadline.cancel();
      if (nextPing != null) {
        nextPing.cancel();
      }
      current = null;
      connected = false;
      outbox.lost();
      socket.close();
    }

    private void expectPong() {
      deadline.cancel();
      deadline = loop.schedule(timings.pong(), () -> closed("no pong for " + timings.pong()));
    }

    private void pingLater() {
      nextPing = loop.schedule(timings.ping(), () -> {
        socket.ping();
        outbox.pinged();
        pingLater();
      });
    }
  }
}
