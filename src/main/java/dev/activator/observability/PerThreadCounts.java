package dev.activator.observability;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Counters that are stored per thread and summed when read. So adding needs no atomic instruction,
 * and threads share no cache line.
 *
 * <p><b>Threads.</b> Any may call, with its own {@link Meters#thread}.
 */
final class PerThreadCounts {
  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
  private static final long[] NONE = {};
  /** The padding of one cache line, so that none is shared with the next object. */
  private static final int PADDING = 8;

  private final int size;
  /** The counts by thread number; empty until the thread adds. */
  private volatile long[][] threads = {};

  PerThreadCounts(int size) {
    this.size = size;
  }

  static void add(long[] own, int index, long more) {
    // Opaque access is enough, because each array has one writer.
    COUNT.setOpaque(own, index, own[index] + more);
  }

  long[] own(int thread) {
    var all = threads;
    return thread < all.length && all[thread].length > 0 ? all[thread] : addThread(thread);
  }

  private synchronized long[] addThread(int thread) {
    var all = Arrays.copyOf(threads, Math.max(threads.length, thread + 1));
    Arrays.fill(all, threads.length, all.length, NONE);
    all[thread] = new long[size + PADDING];
    threads = all;
    return all[thread];
  }

  /** The sums of the threads' counts. They are not a consistent snapshot. */
  long[] sums(int from, int to) {
    var sums = new long[to - from];
    for (var each : threads) {
      for (int i = from; each.length > 0 && i < to; i++) {
        sums[i - from] += (long) COUNT.getOpaque(each, i);
      }
    }
    return sums;
  }
}
