package dev.activator.loop;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/** The process's event loops, about one per core. Equal keys get the same loop. */
public final class LoopGroup {
  private final List<NettyLoop> loops;

  public LoopGroup(List<NettyLoop> loops) {
    this.loops = List.copyOf(loops);
  }

  public LoopGroup(EventLoopGroup group) {
    this(loops(group));
  }

  private static List<NettyLoop> loops(EventLoopGroup group) {
    var all = new ArrayList<NettyLoop>();
    for (EventExecutor executor : group) {
      all.add(new NettyLoop((EventLoop) executor));
    }
    return all;
  }

  /** A thread-safe random generator, with a separate sequence for each thread. */
  public static RandomGenerator random() {
    return () -> ThreadLocalRandom.current().nextLong();
  }

  public NettyLoop loopFor(Object key) {
    int hash = key.hashCode();
    return loops.get(Math.floorMod(hash ^ hash >>> 16, loops.size()));
  }

  public List<NettyLoop> all() {
    return loops;
  }
}
