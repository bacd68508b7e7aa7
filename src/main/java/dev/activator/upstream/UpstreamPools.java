package dev.activator.upstream;

import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import dev.activator.upstream.policy.DialPlan;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one event loop, to all pods.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call, so there is no lock.
 *
 * <p>
 * <b>Source.</b> {@code http.Transport} in Go, as Knative sets it up: the same limits, the last
 * used connection first, the longest idle one closed where there are too many.
 */
public final class UpstreamPools {
  private final NettyLoop loop;
  private final IdleLimits limits;
  private final Dialer dialer;
  private final Map<Destination, Http1Pool> pools = new HashMap<>();
  private final Map<Destination, Http2Pool> http2Pools = new HashMap<>();
  private final IdleOrder idle = new IdleOrder();
  private Loop.@Nullable Timer expiry;
  private boolean closed;

  UpstreamPools(NettyLoop loop, IdleLimits limits, DialPlan plan) {
    this.loop = loop;
    this.limits = limits;
    this.dialer = new Dialer(loop, plan);
  }

  /** The HTTP/1 connections to one pod. Not to be kept: it is forgotten once it has none. */
  public UpstreamPool to(Destination destination) {
    var known = pools.get(destination);
    return known != null
        ? known
        : pools.computeIfAbsent(destination,
            pod -> new Http1Pool(pod, this, dialer, limits.perDestination()));
  }

  /** As the other, HTTP/2 connections without TLS. */
  public UpstreamPool toHttp2(Destination destination) {
    var known = http2Pools.get(destination);
    return known != null
        ? known
        : http2Pools.computeIfAbsent(destination,
            pod -> new Http2Pool(pod, this, dialer, limits.timeout()));
  }

  /** For a connection of its own kind, which is in no pool. */
  Dialer dialer() {
    return dialer;
  }

  /** How many connections nothing uses. */
  int idleCount() {
    return idle.size();
  }

  /** How many pods have a connection, or might get one soon. */
  int poolCount() {
    return pools.size() + http2Pools.size();
  }

  /** Not if the pod has another pool by now. */
  void forget(Destination destination, Http1Pool pool) {
    pools.remove(destination, pool);
  }

  /** As the other. */
  void forget(Destination destination, Http2Pool pool) {
    http2Pools.remove(destination, pool);
  }

  /** Whether no connection is kept open any more. */
  boolean isClosed() {
    return closed;
  }

  /** Whether it is kept. */
  boolean keep(Http1Upstream connection) {
    if (closed) {
      return false;
    }
    connection.idleSince(loop.nanoTime());
    idle.add(connection);
    if (limits.total() > 0 && idle.size() > limits.total()) {
      idle.oldest().close();
    }
    arm();
    return true;
  }

  void noLongerIdle(Http1Upstream connection) {
    idle.remove(connection);
  }

  void close() {
    closed = true;
    while (!idle.isEmpty()) {
      idle.oldest().close();
    }
    List.copyOf(http2Pools.values()).forEach(Http2Pool::closeIdle);
  }

  /** One timer for all: the oldest is the first to go. */
  private void arm() {
    if (expiry == null && !idle.isEmpty()) {
      long left = limits.timeout().toNanos() - age(idle.oldest());
      expiry = loop.schedule(Duration.ofNanos(Math.max(0, left)), this::expire);
    }
  }

  private void expire() {
    expiry = null;
    while (!idle.isEmpty() && age(idle.oldest()) >= limits.timeout().toNanos()) {
      idle.oldest().close();
    }
    arm();
  }

  private long age(Http1Upstream connection) {
    return loop.nanoTime() - connection.idleSince();
  }
}
