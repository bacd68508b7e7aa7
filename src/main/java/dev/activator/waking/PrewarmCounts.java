package dev.activator.waking;

import dev.activator.waking.CallChains.Source;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts of starts ahead of requests, by their outcome, for meters.
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

  /** A request came when the start was over. */
  public long used(Source source) {
    return used.get(source.ordinal());
  }

  /** A request came before the start was over. */
  public long late(Source source) {
    return late.get(source.ordinal());
  }

  /** No request came in time. */
  public long unused(Source source) {
    return unused.get(source.ordinal());
  }

  /** How long requests did not have to wait. */
  public double savedSeconds(Source source) {
    return savedNanos.get(source.ordinal()) / NANOS_A_SECOND;
  }
}
