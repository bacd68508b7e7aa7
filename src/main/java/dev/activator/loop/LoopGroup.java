package dev.activator.loop;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/**
 * The process's event loops, about one per core. State that belongs together is given the same key,
 * and so lives on the same loop.
 */
public final class LoopGroup {
  private final List<NettyLoop> loops;

  public LoopGroup(EventLoopGroup group) {
    var all = new ArrayList<NettyLoop>();
    for (EventExecutor executor : group) {
      all.add(new NettyLoop((EventLoop) executor));
    }
    this.loops = List.copyOf(all);
  }

  /** Random numbers for tasks of all loops: each thread draws its own. */
  public static RandomGenerator random() {
    return () -> ThreadLocalRandom.current().nextLong();
  }

  /** The loop of this key; equal keys have the same one. */
  public NettyLoop loopFor(Object key) {
    int hash = key.hashCode();
    return loops.get(Math.floorMod(hash ^ hash >>> 16, loops.size()));
  }

  public List<NettyLoop> all() {
    return loops;
  }
}
