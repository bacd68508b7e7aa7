package dev.activator.upstream;

import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.tls.PodTls;
import dev.activator.upstream.policy.DialPlan;
import java.util.IdentityHashMap;
import java.util.random.RandomGenerator;

/**
 * The pools of all loops.
 *
 * <p>
 * <b>Threads.</b> Any may call. A pool itself belongs to its loop.
 */
public final class Upstreams {
  private final IdentityHashMap<Loop, UpstreamPools> pools = new IdentityHashMap<>();

  /** Makes pools of connections without TLS. */
  public Upstreams(LoopGroup loops, IdleLimits limits, RandomGenerator random) {
    this(loops, limits, random, new PodTls());
  }

  /**
   * Makes a pool for each loop.
   *
   * @param limits those of all loops together
   * @param random spreads attempts to connect; one that several threads may use
   * @param tls whether, and how, requests go to pods over TLS
   */
  public Upstreams(LoopGroup loops, IdleLimits limits, RandomGenerator random, PodTls tls) {
    var share = limits.shareOf(loops.all().size());
    var plan = new DialPlan(random);
    for (var loop : loops.all()) {
      pools.put(loop, new UpstreamPools(loop, share, plan, tls));
    }
  }

  /** The pools of a loop; fails if it is none of the group's. */
  public UpstreamPools of(Loop loop) {
    var found = pools.get(loop);
    if (found == null) {
      throw new IllegalArgumentException("not a loop of this process: " + loop);
    }
    return found;
  }

  /** Closes what is idle, and from now on whatever becomes so. */
  public void close() {
    pools.forEach((loop, pool) -> loop.execute(pool::close));
  }
}
