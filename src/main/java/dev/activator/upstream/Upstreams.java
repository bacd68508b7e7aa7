package dev.activator.upstream;

import dev.activator.loop.KeepAlive;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.tls.PodTls;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.random.RandomGenerator;

/**
 * The pools of all loops.
 *
 * <p>
 * <b>Threads.</b> Any may call. The pools of a loop belong to that loop.
 */
public final class Upstreams {
  /**
   * How many connections are kept open while idle, and for how long.
   *
   * @param total to all pods; 0 means no limit
   * @param perDestination to one pod
   * @param timeout how long one may stay idle
   */
  public record IdleLimits(int total, int perDestination, Duration timeout) {
    /** Those of the Knative activator. */
    public static final IdleLimits DEFAULT = new IdleLimits(1000, 100, Duration.ofSeconds(90));

    /** The share of one loop; at least one connection, unless none are kept at all. */
    IdleLimits shareOf(int loops) {
      return new IdleLimits(Math.ceilDiv(total, loops), Math.ceilDiv(perDestination, loops),
          timeout);
    }
  }

  private final IdentityHashMap<Loop, UpstreamPools> pools = new IdentityHashMap<>();

  /** Makes pools of connections without TLS. */
  public Upstreams(LoopGroup loops, IdleLimits limits, RandomGenerator random) {
    this(loops, limits, random, new PodTls());
  }

  /**
   * Makes a pool for each loop.
   *
   * @param limits those of all loops together
   * @param random spreads attempts to connect; drawn from by many threads at once
   * @param tls whether, and how, requests go to pods over TLS
   */
  public Upstreams(LoopGroup loops, IdleLimits limits, RandomGenerator random, PodTls tls) {
    this(loops, limits, KeepAlive.TO_PODS, random, tls);
  }

  /** As the other, with another time after which a vanished pod is noticed. */
  public Upstreams(LoopGroup loops, IdleLimits limits, KeepAlive keepAlive, RandomGenerator random,
      PodTls tls) {
    var share = limits.shareOf(loops.all().size());
    var plan = new DialPlan(random);
    for (var loop : loops.all()) {
      pools.put(loop, new UpstreamPools(loop, share, keepAlive, plan, tls));
    }
  }

  /** The pools of a loop; fails for a loop that is not of this group. */
  public UpstreamPools of(Loop loop) {
    var found = pools.get(loop);
    if (found == null) {
      throw new IllegalArgumentException("not a loop of this process: " + loop);
    }
    return found;
  }

  /** Closes connections that are idle, or become so from now on. */
  public void close() {
    pools.forEach((loop, pool) -> loop.execute(pool::close));
  }
}
