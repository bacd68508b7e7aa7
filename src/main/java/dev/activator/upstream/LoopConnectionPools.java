package dev.activator.upstream;

import dev.activator.http.WindowBudget;
import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PortProtocol;
import dev.activator.tls.DialTarget;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.Dialer.DialBackoff;
import dev.activator.upstream.UpstreamPool.Dial;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection pools of one event loop, for all pods.
 *
 * <p><b>Source.</b> {@code http.Transport} in Go as Knative configures it: the same limits; the
 * most recently used connection is reused first, and the oldest idle one is closed.
 */
public final class LoopConnectionPools implements PodConnectionPools {
  private static final Logger log = LoggerFactory.getLogger(LoopConnectionPools.class);

  /** A client that waits takes it at once. */
  private static final Duration SPARE_TIME = Duration.ofMillis(200);

  private final NettyLoop loop;
  private final IdleLimits limits;
  private final WindowBudget windows;
  private final PodTls tls;
  private final Dialer dialer;
  private final Map<DialTarget, Http1Pool> http1Pools = new HashMap<>();
  private final Map<DialTarget, Http2Pool> http2Pools = new HashMap<>();
  /** Those of pods that may choose HTTP/1 instead. */
  private final Map<DialTarget, Http2Pool> negotiatingPools = new HashMap<>();
  private final Map<Destination, Spare> spares = new HashMap<>();
  /** The oldest first. */
  private final SequencedSet<Http1PodConnection> idle = new LinkedHashSet<>();
  private final ResettableTimer expiry;
  private final DeadConnectionDetector deadConnections;
  private final LogLimit malformedResponses = new LogLimit();
  private boolean closed;

  LoopConnectionPools(NettyLoop loop, IdleLimits limits, TcpKeepAlive keepAlive,
      DialBackoff backoff, WindowBudget windows, PodTls tls) {
    this.loop = loop;
    this.limits = limits;
    this.windows = windows;
    this.tls = tls;
    this.expiry = new ResettableTimer(loop, this::expire);
    this.deadConnections = new DeadConnectionDetector(loop, keepAlive.interval());
    this.dialer = new Dialer(loop, keepAlive, backoff, tls);
  }

  /** Of all connections in HTTP/2 to pods. */
  WindowBudget windows() {
    return windows;
  }

  @Override
  public UpstreamPool to(Destination pod, LiveRevision revision, @Nullable PodIdentity identity,
      PortProtocol protocol) {
    return to(tls.target(pod, revision, identity), protocol);
  }

  @Override
  public Dial open(Destination pod, OpenListener listener) {
    var opening = new RawOpening(listener);
    var known = hasSpare(pod) ? spares.remove(pod) : null;
    if (known == null) {
      return dialer.dial(DialTarget.plain(pod), opening);
    }
    known.timer.cancel();
    loop.execute(() -> dialer.adopt(known.socket, opening));
    return () -> opening.isCancelled = true;
  }

  /** Keeps a connected socket for a moment, for the next {@link #open}, so that no other is opened. */
  void keep(Destination pod, Socket connected) {
    var timer = loop.schedule(SPARE_TIME, () -> {
      var unused = spares.remove(pod);
      if (unused != null) {
        unused.close();
      }
    });
    var former = spares.put(pod, new Spare(connected, timer));
    if (former != null) {
      former.close();
    }
  }

  /** Whether a connection is open that the next {@link #open} gets. */
  boolean hasSpare(Destination pod) {
    var known = spares.get(pod);
    if (known != null && known.isReset()) {
      spares.remove(pod);
      known.close();
      return false;
    }
    return known != null;
  }

  private record Spare(Socket socket, Loop.Timer timer) {
    boolean isReset() {
      try {
        return socket.getSoError() != 0;
      } catch (IOException e) {
        return true;
      }
    }

    void close() {
      timer.cancel();
      Dialer.closeUnused(socket);
    }
  }

  private static final class RawOpening implements Dialer.DialListener {
    private final OpenListener listener;
    private boolean isCancelled;

    RawOpening(OpenListener listener) {
      this.listener = listener;
    }

    @Override
    public void addHandlers(ChannelPipeline pipeline) {
      pipeline.channel().config().setAutoRead(false);
    }

    @Override
    public void connected(Channel channel) {
      if (isCancelled) {
        var _ = channel.close();
      } else {
        listener.connected(channel);
      }
    }

    @Override
    public void failed(UpstreamFailure failure) {
      if (!isCancelled) {
        listener.failed(failure);
      }
    }
  }

  UpstreamPool to(DialTarget target, PortProtocol protocol) {
    return switch (protocol) {
      case HTTP1 -> http1(target);
      case H2C -> http2(target);
      case NEGOTIATED -> http1(target).isChosen() ? http1(target) : negotiating(target);
      case TCP -> throw new IllegalArgumentException("no pool: " + target + " is not for requests");
    };
  }

  @Override
  public Destination address(Destination pod, LiveRevision revision,
      @Nullable PodIdentity identity) {
    return tls.isRequired() ? tls.target(pod, revision, identity).destination() : pod;
  }

  @Override
  public boolean isSecure(@Nullable PodIdentity identity) {
    return identity != null || tls.isRequired();
  }

  /**
   * The pool for a target. A new pool is added to the map only at its first dial, because the
   * request may end before it dials.
   */
  Http1Pool http1(DialTarget to) {
    var known = http1Pools.get(to);
    return known != null ? known : new Http1Pool(to);
  }

  private Http2Pool http2(DialTarget to) {
    var known = http2Pools.get(to);
    return known != null ? known : new Http2Pool(to, false, this, dialer, limits.timeout());
  }

  private Http2Pool negotiating(DialTarget to) {
    var known = negotiatingPools.get(to);
    return known != null ? known : new Http2Pool(to, true, this, dialer, limits.timeout());
  }

  /** A connection with room on which the pod has chosen HTTP/2; null if there is none. */
  @Nullable Http2PodSession chosenHttp2(DialTarget to) {
    var known = negotiatingPools.get(to);
    return known == null ? null : known.first();
  }

  private Map<DialTarget, Http2Pool> poolsLike(Http2Pool pool) {
    return pool.negotiates() ? negotiatingPools : http2Pools;
  }

  /** Says why a response is malformed: its caller only learns that it is. */
  void logMalformed(DialTarget pod, @Nullable String why) {
    malformedResponses.log(loop.nanoTime(), others -> log.warn(
        "A response of {} is malformed: {}. {} others were since the last such line",
        pod.destination(), why, others));
  }

  DeadConnectionDetector deadConnections() {
    return deadConnections;
  }

  NettyLoop loop() {
    return loop;
  }

  /**
   * Adds a connected socket to the pool as an idle connection without TLS, or closes it if that is
   * not possible.
   */
  void adopt(Destination pod, Socket connected) {
    http1(DialTarget.plain(pod)).adopt(connected);
  }

  /** <b>Threads.</b> Any. */
  int openCount() {
    return dialer.openCount();
  }

  /** The number of idle HTTP/1 connections. Another thread may see a stale number. */
  int idleCount() {
    return idle.size();
  }

  int poolCount() {
    return http1Pools.size() + http2Pools.size() + negotiatingPools.size();
  }

  /** Adds a pool, unless the pod has another one by now. */
  void remember(DialTarget target, Http2Pool pool) {
    poolsLike(pool).putIfAbsent(target, pool);
  }

  /** Removes a pool, unless the pod has another one by now. */
  void forget(DialTarget target, Http2Pool pool) {
    poolsLike(pool).remove(target, pool);
  }

  boolean isClosed() {
    return closed;
  }

  void close() {
    closed = true;
    while (!idle.isEmpty()) {
      idle.getFirst().close();
    }
    List.copyOf(http2Pools.values()).forEach(Http2Pool::closeIdle);
    List.copyOf(negotiatingPools.values()).forEach(Http2Pool::closeIdle);
  }

  /** Sets the timer for the oldest idle connection, which expires first. */
  private void arm() {
    if (!idle.isEmpty()) {
      expiry.within(Math.max(0, limits.timeout().toNanos() - age(idle.getFirst())));
    }
  }

  private void expire() {
    while (!idle.isEmpty() && age(idle.getFirst()) >= limits.timeout().toNanos()) {
      idle.getFirst().close();
    }
    arm();
  }

  private long age(Http1PodConnection connection) {
    return loop.nanoTime() - connection.idleSince();
  }

  /** The HTTP/1 connections to one pod. */
  final class Http1Pool implements UpstreamPool {
    private final DialTarget target;
    private final String authority;
    private final Deque<Http1PodConnection> ofPod = new ArrayDeque<>();
    private int open;
    /** Whether the pod has chosen HTTP/1 by ALPN, on a connection of this pool. */
    private boolean chosen;

    private Http1Pool(DialTarget target) {
      this.target = target;
      this.authority = target.destination().toString();
    }

    @Override
    public String authority() {
      return authority;
    }

    void logMalformed(@Nullable String why) {
      LoopConnectionPools.this.logMalformed(target, why);
    }

    /** The most recently used connection. */
    @Override
    public @Nullable Http1PodConnection reuse(UpstreamListener listener) {
      var connection = ofPod.pollFirst();
      if (connection != null) {
        idle.remove(connection);
        connection.lend(listener);
      }
      return connection;
    }

    @Override
    public @Nullable Http1PodConnection reuseChecked(UpstreamListener listener) {
      var connection = reuse(listener);
      while (connection != null && !deadConnections.isUsable(connection.channel())) {
        connection.close();
        connection = reuse(listener);
      }
      return connection;
    }

    @Override
    public Dial dial(UpstreamListener listener) {
      opening();
      return dialer.dial(target, new Opening() {
        @Override
        public void connected(Channel channel) {
          Http1PodConnection.open(channel, Http1Pool.this, listener);
        }

        @Override
        public void failed(UpstreamFailure failure) {
          super.failed(failure);
          listener.failed(failure);
        }
      });
    }

    private void adopt(Socket socket) {
      opening();
      dialer.adopt(socket, new Opening() {
        @Override
        public void connected(Channel channel) {
          Http1PodConnection.openIdle(channel, Http1Pool.this);
        }
      });
    }

    /**
     * Adds a connection whose pod has chosen HTTP/1 by ALPN.
     *
     * @param listener null if the connection is idle
     */
    void addChosen(Channel channel, @Nullable UpstreamListener listener) {
      opening();
      chosen = true;
      Http1PodConnection.addCodecs(channel.pipeline());
      if (listener == null) {
        Http1PodConnection.openIdle(channel, this);
      } else {
        Http1PodConnection.open(channel, this, listener);
      }
    }

    boolean isChosen() {
      return chosen;
    }

    private void opening() {
      if (open == 0) {
        // This pool may have been removed when its last connection was closed, and the pod may have
        // another pool by now.
        http1Pools.putIfAbsent(target, this);
      }
      open++;
    }

    private abstract class Opening implements Dialer.DialListener {
      @Override
      public void addHandlers(ChannelPipeline pipeline) {
        Http1PodConnection.addCodecs(pipeline);
      }

      @Override
      public void failed(UpstreamFailure failure) {
        gone();
      }

      @Override
      public void cancelled() {
        gone();
      }
    }

    void opened(Http1PodConnection connection) {
      deadConnections.add(connection);
    }

    /** Makes a connection idle. False if it should be closed instead. */
    boolean giveBack(Http1PodConnection connection) {
      if (closed || ofPod.size() >= limits.perDestination()) {
        return false;
      }
      connection.idleSince(loop.nanoTime());
      idle.add(connection);
      if (limits.total() > 0 && idle.size() > limits.total()) {
        idle.getFirst().close();
      }
      if (!expiry.isSet()) {
        arm();
      }
      ofPod.addFirst(connection);
      return true;
    }

    void drop(Http1PodConnection connection) {
      idle.remove(connection);
      // Searched from the end, because connections that end by themselves are mostly the oldest,
      // and those are last.
      ofPod.removeLastOccurrence(connection);
    }

    /** Call when a connection has closed or a dial has failed. */
    void gone() {
      open--;
      if (open == 0) {
        http1Pools.remove(target, this);
      }
    }
  }
}
