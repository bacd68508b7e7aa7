package dev.activator.upstream;

import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import dev.activator.upstream.policy.DialPlan;
import java.time.Duration;
import java.util.HashMap;
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
  private final Map<Destination, UpstreamPool> pools = new HashMap<>();
  private final IdleOrder idle = new IdleOrder();
  private Loop.@Nullable Timer expiry;
  private boolean closed;

  UpstreamPools(NettyLoop loop, IdleLimits limits, DialPlan plan) {
    this.loop = loop;
    this.limits = limits;
    this.dialer = new Dialer(loop, plan);
  }

  /** The connections to one pod. Not to be kept: it is forgotten once it has none. */
  public UpstreamPool to(Destination destination) {
    return pools.computeIfAbsent(destination,
        pod -> new UpstreamPool(pod, this, dialer, limits.perDestination()));
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
    return pools.size();
  }

  /** Not if the pod has another pool by now. */
  void forget(Destination destination, UpstreamPool pool) {
    pools.remove(destination, pool);
  }

  /** Whether it is kept. */
  boolean keep(UpstreamConnection connection) {
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

  void noLongerIdle(UpstreamConnection connection) {
    idle.remove(connection);
  }

  void close() {
    closed = true;
    while (!idle.isEmpty()) {
      idle.oldest().close();
    }
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

  private long age(UpstreamConnection connection) {
    return loop.nanoTime() - connection.idleSince();
  }
}
