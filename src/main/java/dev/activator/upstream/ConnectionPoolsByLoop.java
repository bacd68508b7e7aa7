package dev.activator.upstream;

import dev.activator.http.WindowBudget;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.tls.PodTls;
import dev.activator.upstream.Dialer.DialBackoff;
import io.netty.util.internal.PlatformDependent;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.random.RandomGenerator;

/**
 * The connections of all loops.
 *
 * <p><b>Threads.</b> Any may call; a loop's pools belong to that loop.
 */
public final class ConnectionPoolsByLoop {
  /** @param total 0 for no limit */
  public record IdleLimits(int total, int perDestination, Duration timeout) {
    /** The limits of Knative's activator. */
    public static final IdleLimits DEFAULT = new IdleLimits(1000, 100, Duration.ofSeconds(90));

    /** The limits of one loop: its share, rounded up, so that each loop may keep a connection. */
    IdleLimits shareOf(int loops) {
      return new IdleLimits(Math.ceilDiv(total, loops), Math.ceilDiv(perDestination, loops),
          timeout);
    }
  }

  /** The part of the direct memory that responses may fill beyond the windows with which they begin. */
  private static final int WINDOWS_PART = 8;

  private final IdentityHashMap<Loop, LoopConnectionPools> pools = new IdentityHashMap<>();

  /**
   * @param limits for all loops
   * @param random used by all loops
   */
  public ConnectionPoolsByLoop(LoopGroup loops, IdleLimits limits, RandomGenerator random,
      PodTls tls) {
    this(loops, limits, TcpKeepAlive.TO_PODS, random, tls);
  }

  public ConnectionPoolsByLoop(LoopGroup loops, IdleLimits limits, TcpKeepAlive keepAlive,
      RandomGenerator random,
      PodTls tls) {
    var share = limits.shareOf(loops.all().size());
    var backoff = new DialBackoff(random);
    var windows = new WindowBudget(PlatformDependent.maxDirectMemory() / WINDOWS_PART);
    for (var loop : loops.all()) {
      pools.put(loop, new LoopConnectionPools(loop, share, keepAlive, backoff, windows, tls));
    }
  }

  public LoopConnectionPools of(Loop loop) {
    var found = pools.get(loop);
    if (found == null) {
      throw new IllegalArgumentException("not a loop of this process: " + loop);
    }
    return found;
  }

  /** <b>Threads.</b> Any. */
  public int openCount() {
    return pools.values().stream().mapToInt(LoopConnectionPools::openCount).sum();
  }

  /** Of HTTP/1 only. <b>Threads.</b> Any. */
  public int idleCount() {
    return pools.values().stream().mapToInt(LoopConnectionPools::idleCount).sum();
  }

  /** Closes idle connections, and later those that become idle. */
  public void close() {
    pools.forEach((loop, pool) -> loop.execute(pool::close));
  }
}
