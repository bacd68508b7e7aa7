package dev.activator.upstream;

import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.tls.Peer;
import dev.activator.tls.PodTls;
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
public final class UpstreamPools implements PodPools {
  private final NettyLoop loop;
  private final IdleLimits limits;
  private final PodTls tls;
  private final Dialer dialer;
  private final Map<Peer, Http1Pool> pools = new HashMap<>();
  private final Map<Peer, Http2Pool> http2Pools = new HashMap<>();
  private final IdleOrder idle = new IdleOrder();
  private final Liveness liveness = new Liveness();
  private Loop.@Nullable Timer expiry;
  private boolean closed;

  UpstreamPools(NettyLoop loop, IdleLimits limits, DialPlan plan, PodTls tls) {
    this.loop = loop;
    this.limits = limits;
    this.tls = tls;
    this.dialer = new Dialer(loop, plan, tls);
  }

  @Override
  public UpstreamPool to(Destination pod, RevisionId revision) {
    return http1(tls.peer(pod, revision));
  }

  @Override
  public UpstreamPool toHttp2(Destination pod, RevisionId revision) {
    return http2(tls.peer(pod, revision));
  }

  @Override
  public Destination address(Destination pod, RevisionId revision) {
    return tls.isRequired() ? tls.peer(pod, revision).destination() : pod;
  }

  @Override
  public boolean isSecure() {
    return tls.isRequired();
  }

  /** As the others, those that are never over TLS; requests may use them as well. */
  public UpstreamPool plain(Destination pod) {
    return http1(Peer.plain(pod));
  }

  private Http1Pool http1(Peer to) {
    var known = pools.get(to);
    return known != null
        ? known
        : pools.computeIfAbsent(to,
            peer -> new Http1Pool(peer, this, dialer, limits.perDestination()));
  }

  /** As {@link #plain}, in HTTP/2. */
  public UpstreamPool plainHttp2(Destination pod) {
    return http2(Peer.plain(pod));
  }

  private Http2Pool http2(Peer to) {
    var known = http2Pools.get(to);
    return known != null
        ? known
        : http2Pools.computeIfAbsent(to,
            peer -> new Http2Pool(peer, this, dialer, limits.timeout()));
  }

  Dialer dialer() {
    return dialer;
  }

  /** Asks the kernel. */
  Liveness liveness() {
    return liveness;
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
  void forget(Peer peer, Http1Pool pool) {
    pools.remove(peer, pool);
  }

  /** As the other. */
  void forget(Peer peer, Http2Pool pool) {
    http2Pools.remove(peer, pool);
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
