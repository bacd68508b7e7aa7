package dev.activator.waking;

import dev.activator.waking.CallChains.Source;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts starts ahead of requests by their outcome, for meters.
 *
 * <p><b>Threads.</b> Any.
 */
public final class PrewarmCounts {
  private static final double NANOS_A_SECOND = 1e9;

  private final AtomicLongArray used = new AtomicLongArray(Source.values().length);
  private final AtomicLongArray late = new AtomicLongArray(Source.values().length);
  private final AtomicLongArray unused = new AtomicLongArray(Source.values().length);
  private final AtomicLongArray savedNanos = new AtomicLongArray(Source.values().length);

  /** @param wasLate whether the request came before the start was over */
  void countUsed(Source source, boolean wasLate, Duration saved) {
    (wasLate ? late : used).incrementAndGet(source.ordinal());
    savedNanos.addAndGet(source.ordinal(), saved.toNanos());
  }

  void countUnused(Source source) {
    unused.incrementAndGet(source.ordinal());
  }

  /** The number of starts that were over when the first request came. */
  public long used(Source source) {
    return used.get(source.ordinal());
  }

  /** The number of starts that were not over when the first request came. */
  public long late(Source source) {
    return late.get(source.ordinal());
  }

  /** The number of starts for which no request came in time. */
  public long unused(Source source) {
    return unused.get(source.ordinal());
  }

  /** The waiting time that requests were saved, in seconds. */
  public double savedSeconds(Source source) {
    return savedNanos.get(source.ordinal()) / NANOS_A_SECOND;
  }
}
