package dev.activator.stats;

import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.policy.Backoff;
import dev.activator.wire.Stat;
import dev.activator.wire.WireStatMessage;
import dev.activator.wire.WireStatMessages;
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
 * The connection to the autoscaler, which is reopened whenever it breaks. Statistics without a
 * connection are dropped; {@link ConcurrencyReporter} reports again when it is open.
 *
 * <p><b>Threads.</b> Any may call; no call blocks. The state belongs to {@code loop}.
 *
 * <p><b>Errors.</b> A connection that breaks after its first answered ping is reopened at once. One
 * that breaks before counts as a failed attempt, and is reopened after a pause: else a server that
 * accepts and closes connections would be dialled in a tight loop.
 *
 * <p><b>Source.</b> {@code pkg/websocket/connection.go} of Knative.
 */
public final class AutoscalerLink implements StatSink {
  /**
   * @param handshake the timeout for opening a connection
   * @param ping the time between pings
   * @param pong the timeout for the next pong; several times {@code ping}
   */
  public record Timings(Duration handshake, Duration ping, Duration pong) {
    public static final Timings DEFAULT = new Timings(Duration.ofSeconds(3),
        Duration.ofMillis(3_333), Duration.ofSeconds(10));
  }

  /** Called on the link's loop. */
  public interface Listener {
    default void connected() {}

    default void lost() {}

    default void failed() {}
  }

  /**
   * @param since for how long {@code connected} has had its value
   * @param failures the number of consecutive failed attempts
   * @param problem why the last connection ended or did not open; null while connected
   */
  public record View(String url, boolean connected, Duration since, int failures,
      @Nullable String problem) {}

  private static final Logger log = LoggerFactory.getLogger(AutoscalerLink.class);

  private static final double NANOS_PER_SECOND = 1e9;
  private static final int ATTEMPTS_PER_ROUND = 20;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(12);
  private static final double PAUSE_GROWTH = 1.3;
  private static final double JITTER = 0.5;

  private final Loop loop;
  private final StatSocket.Dialer dialer;
  private final String podName;
  private final Timings timings;
  private final Backoff backoff;
  private final ResettableTimer redial;
  private final List<Listener> listeners = new CopyOnWriteArrayList<>();
  /** The open connection, or the current attempt. */
  private @Nullable Connection current;
  private volatile @Nullable Connection open;
  private int failures;
  private @Nullable String problem;
  private long changedNanos;
  private boolean closed;
  private final long startedNanos;
  private boolean sendsUptime;

  AutoscalerLink(Loop loop, StatSocket.Dialer dialer, String podName, Timings timings,
      RandomGenerator random) {
    this.loop = loop;
    this.dialer = dialer;
    this.podName = podName;
    this.timings = timings;
    this.backoff = backoff(random);
    this.redial = new ResettableTimer(loop, this::dial);
    this.startedNanos = loop.nanoTime();
    this.changedNanos = startedNanos;
  }

  /**
   * @param url called at each attempt
   * @param podName the name that identifies this reporter
   */
  public static AutoscalerLink to(Supplier<URI> url, NettyLoop loop, String podName,
      Timings timings,
      RandomGenerator random) {
    return new AutoscalerLink(loop, new WebSocketDialer(url, loop), podName,
        timings, random);
  }

  /** Call before {@link #open}. */
  public void onChange(Listener listener) {
    listeners.add(listener);
  }

  /**
   * Adds the uptime of this process to every periodic report, and sends reports even without
   * statistics. Our own autoscaler needs this: it scales down only if all activators report. Call
   * before {@link #open}.
   */
  public void sendUptime() {
    sendsUptime = true;
  }

  /** Reconnects at once, because the address of the autoscaler has changed. */
  public void moved() {
    loop.execute(() -> {
      if (current != null) {
        current.closed("the leader has changed");
      }
      redial.within(0);
    });
  }

  public void open() {
    loop.execute(() -> redial.within(0));
  }

  public void close() {
    loop.execute(() -> {
      closed = true;
      redial.cancel();
      if (current != null) {
        current.end();
      }
    });
  }

  public boolean connected() {
    return open != null;
  }

  /** Completes on the link's loop. */
  public CompletableFuture<View> view() {
    return CompletableFuture.supplyAsync(() -> new View(dialer.toString(), connected(),
        Duration.ofNanos(loop.nanoTime() - changedNanos), failures, problem), loop);
  }

  /**
   * Sends statistics even if the peer reads slowly. A peer that does not read at all would not
   * answer pings.
   */
  @Override
  public void atOnce(List<RevisionStat> stats) {
    var connection = open;
    if (connection != null) {
      loop.execute(() -> connection.send(stats, null));
    }
  }

  /** Sends the report, or drops it if the peer reads slowly; the next report replaces it. */
  @Override
  public void report(List<RevisionStat> stats) {
    var connection = open;
    if (connection != null && (sendsUptime || !stats.isEmpty())) {
      loop.execute(() -> {
        if (connection.socket.isWritable()) {
          connection.send(stats, sendsUptime ? uptime() : null);
        }
      });
    }
  }

  private Duration uptime() {
    return Duration.ofNanos(loop.nanoTime() - startedNanos);
  }

  private void dial() {
    if (!closed && current == null) {
      current = new Connection();
    }
  }

  /**
   * The content of a frame: one Protocol Buffers message.
   *
   * @param uptime of this process; null to leave out its entry
   */
  static byte[] encode(String podName, List<RevisionStat> stats, @Nullable Duration uptime) {
    var messages = WireStatMessages.newBuilder();
    if (uptime != null) {
      // An entry without a name. Knative's autoscaler would ignore it.
      messages.addMessages(WireStatMessage.newBuilder().setStat(Stat.newBuilder()
          .setPodName(podName).setProcessUptime(uptime.toNanos() / NANOS_PER_SECOND)));
    }
    for (var stat : stats) {
      var values = Stat.newBuilder().setPodName(podName)
          .setAverageConcurrentRequests(stat.averageConcurrency())
          .setRequestCount(stat.requestCount()).setAcknowledged(stat.acknowledged());
      if (uptime != null) {
        // Knative's autoscaler does not use these.
        values.addAllQueueTimes(stat.queueTimes().counts());
      }
      messages.addMessages(WireStatMessage.newBuilder().setNamespace(stat.revision().namespace())
          .setName(stat.revision().name()).setStat(values));
    }
    return messages.build().toByteArray();
  }

  /**
   * The pause before an attempt. It grows to about eleven seconds, and starts over after twenty
   * attempts.
   *
   * <p><b>Source.</b> {@code connectionBackoff} in Knative's {@code pkg/websocket/connection.go}.
   *
   * @param failures the number of consecutive failures, one more with each call; 0 for no pause,
   *     because the link just broke
   */
  static Duration pause(int failures, Backoff backoff) {
    if (failures % ATTEMPTS_PER_ROUND <= 1) {
      backoff.reset();
    }
    return failures == 0 ? Duration.ZERO : backoff.next();
  }

  static Backoff backoff(RandomGenerator random) {
    return new Backoff(FIRST_PAUSE, MAX_PAUSE, PAUSE_GROWTH, JITTER, random);
  }

  /** A connection attempt and the connection. Ignores events after its end. */
  private final class Connection implements StatSocket.Events {
    private final StatSocket socket;
    private Loop.Timer deadline;
    private final ResettableTimer pings = new ResettableTimer(loop, this::ping);
    private boolean answered;

    Connection() {
      socket = dialer.dial(this);
      deadline = loop.schedule(timings.handshake(),
          () -> closed("not open after " + timings.handshake().toMillis() / 1e3 + " s"));
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

    void send(List<RevisionStat> stats, @Nullable Duration uptime) {
      if (open == this) {
        socket.send(encode(podName, stats, uptime));
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
      redial.within(pause(failures, backoff));
      if (wasOpen) {
        changedNanos = loop.nanoTime();
        log.warn("The connection to the autoscaler at {} is lost: {}", dialer, why);
        listeners.forEach(Listener::lost);
      } else {
        logFailure(why);
        listeners.forEach(Listener::failed);
      }
    }

    private void logFailure(String why) {
      var level = failures % ATTEMPTS_PER_ROUND == 1 ? Level.WARN : Level.DEBUG;
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
