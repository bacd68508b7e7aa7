package dev.activator.observability;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Numbers that several threads add to. Each thread has an array of its own, so that adding takes no
 * atomic instruction and no cache line of another thread; the arrays are summed when they are read.
 *
 * <p>
 * <b>Threads.</b> Any may call, with its own number of {@link Meters#thread}.
 */
final class PerThreadCounts {
  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
  private static final long[] NONE = {};
  /** A cache line after each array, so that it shares none with what follows it in memory. */
  private static final int PADDING = 8;

  private final int size;
  /** By number of the thread; empty for one that has not added yet. It is replaced to grow. */
  private volatile long[][] threads = {};

  PerThreadCounts(int size) {
    this.size = size;
  }

  /** Adds to the calling thread's array. */
  static void add(long[] own, int index, long more) {
    // Only this thread writes, so the addition need not be atomic; it must only be seen in the end.
    COUNT.setOpaque(own, index, own[index] + more);
  }

  /** The array of the calling thread. */
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

  /** The sums over all threads; what is added meanwhile may be in some of them and not in others. */
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
