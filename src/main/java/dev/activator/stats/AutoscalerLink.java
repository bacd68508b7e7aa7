package dev.activator.stats;

import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
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
 * The connection to the autoscaler. When it breaks it is opened again, without end. What is sent
 * while there is no connection is dropped: {@link ConcurrencyReporter} reports anew once there is one.
 *
 * <p>
 * <b>Threads.</b> Any thread may call, and never blocks. The state belongs to {@code loop}.
 *
 * <p>
 * <b>Errors.</b> None are thrown. A connection that breaks after it has answered a ping is opened
 * again at once; one that did not get so far counts as a failed attempt, so that a server which
 * accepts and closes is not dialled in a tight loop.
 *
 * <p>
 * <b>Source.</b> {@code pkg/websocket/connection.go} of Knative, which may swap frames.
 */
public final class AutoscalerLink implements StatSink {
  /**
   * How the link finds out that the other side is gone.
   *
   * @param handshake from the start of an attempt to an open connection
   * @param ping from one ping to the next
   * @param pong from the opening, or the last pong, to the next; several pings long
   */
  public record Timings(Duration handshake, Duration ping, Duration pong) {
    /** Those of Knative's {@code pkg/websocket/connection.go}. */
    public static final Timings DEFAULT = new Timings(Duration.ofSeconds(3),
        Duration.ofSeconds(10).dividedBy(3), Duration.ofSeconds(10));
  }

  /** Hears when the autoscaler can be reached and when not, on the link's loop. */
  public interface Listener {
    default void connected() {}

    /** An open connection broke, or was closed by the other side. */
    default void lost() {}

    /** An attempt to connect failed. */
    default void failed() {}
  }

  /**
   * The link at one moment.
   *
   * @param url where the autoscaler is
   * @param connected whether there is an open connection
   * @param since how long that has been so; since the start, before the first one opened
   * @param failures failed attempts in a row
   * @param problem why the last connection ended, or did not open; null while there is one
   */
  public record View(String url, boolean connected, Duration since, int failures,
      @Nullable String problem) {}

  private static final Logger log = LoggerFactory.getLogger(AutoscalerLink.class);

  private final Loop loop;
  private final StatSocket.Dialer dialer;
  private final String podName;
  private final Timings timings;
  private final RandomGenerator random;
  private final DeadlineTimer redial;
  private final List<Listener> listeners = new CopyOnWriteArrayList<>();
  /** The connection, or the attempt. */
  private @Nullable Connection current;
  private volatile @Nullable Connection open;
  private int failures;
  private @Nullable String problem;
  private long changedNanos;
  private boolean closed;

  AutoscalerLink(Loop loop, StatSocket.Dialer dialer, String podName, Timings timings,
      RandomGenerator random) {
    this.loop = loop;
    this.dialer = dialer;
    this.podName = podName;
    this.timings = timings;
    this.random = random;
    this.redial = new DeadlineTimer(loop, this::dial);
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
      Timings timings,
      RandomGenerator random) {
    return new AutoscalerLink(loop, new WebSocketDialer(url, loop), podName,
        timings, random);
  }

  /** Adds a listener; before {@link #open}. */
  public void onChange(Listener listener) {
    listeners.add(listener);
  }

  /** Connects, and stays so. */
  public void open() {
    loop.execute(this::dial);
  }

  /** Sends nothing more and closes the connection; it is not opened again. */
  public void close() {
    loop.execute(() -> {
      closed = true;
      redial.cancel();
      if (current != null) {
        current.end();
      }
    });
  }

  /** Whether there is an open connection now. */
  public boolean connected() {
    return open != null;
  }

  /** How the connection is; the answer comes from the link's loop. */
  public CompletableFuture<View> view() {
    return CompletableFuture.supplyAsync(() -> new View(dialer.toString(), connected(),
        Duration.ofNanos(loop.nanoTime() - changedNanos), failures, problem), loop);
  }

  /** Sent even if the other side is slow to read: one that does not read at all answers no ping. */
  @Override
  public void atOnce(List<RevisionStat> stats) {
    var connection = open;
    if (connection != null) {
      loop.execute(() -> connection.send(stats));
    }
  }

  /** Dropped if the other side is slow to read; the next report replaces it. */
  @Override
  public void report(List<RevisionStat> stats) {
    var connection = open;
    if (connection != null) {
      loop.execute(() -> {
        if (connection.socket.isWritable()) {
          connection.send(stats);
        }
      });
    }
  }

  private void dial() {
    if (!closed && current == null) {
      current = new Connection();
    }
  }

  /** One connection, from the attempt to its end. Events that come after that are ignored. */
  private final class Connection implements StatSocket.Events {
    private final StatSocket socket;
    private Loop.Timer deadline;
    private final DeadlineTimer pings = new DeadlineTimer(loop, this::ping);
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
      open = this;
      problem = null;
      changedNanos = loop.nanoTime();
      log.info("Connected to the autoscaler at {}", dialer);
      expectPong();
      pings.within(timings.ping());
      listeners.forEach(Listener::connected);
    }

    /** Does nothing once the connection has ended: what was meant for it is not for the next one. */
    void send(List<RevisionStat> stats) {
      if (open == this) {
        socket.send(StatFrame.encode(podName, stats));
      }
    }

    @Override
    public void ponged() {
      if (current == this) {
        answered = true;
        expectPong();
      }
    }

    @Override
    public void closed(String why) {
      if (current != this) {
        return;
      }
      boolean wasOpen = connected();
      problem = why;
      end();
      failures = answered ? 0 : failures + 1;
      if (wasOpen) {
        changedNanos = loop.nanoTime();
        log.warn("The connection to the autoscaler at {} is lost: {}", dialer, why);
        listeners.forEach(Listener::lost);
      } else {
        logFailure(why);
        listeners.forEach(Listener::failed);
      }
      redial.within(ReconnectSchedule.pause(failures, random));
    }

    private void logFailure(String why) {
      var level = failures % ReconnectSchedule.ATTEMPTS == 1 ? Level.WARN : Level.DEBUG;
      log.atLevel(level).log("The autoscaler at {} cannot be reached, attempt {}: {}", dialer,
          failures, why);
    }

    void end() {
      deadline.cancel();
      pings.cancel();
      current = null;
      open = null;
      socket.close();
    }

    private void expectPong() {
      deadline.cancel();
      deadline = loop.schedule(timings.pong(), () -> closed("no pong for " + timings.pong()));
    }

    private void ping() {
      socket.ping();
      pings.within(timings.ping());
    }
  }
}
