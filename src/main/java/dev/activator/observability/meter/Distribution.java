package dev.activator.observability.meter;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * How often which values came.
 *
 * <p>
 * <b>Threads.</b> One writes; any reads, and may see a value counted that is not in the sum yet.
 */
public final class Distribution {
  private final Buckets buckets;
  /** How often in each bucket, and then the sum of all. */
  private final AtomicLongArray cells;

  public Distribution(Buckets buckets) {
    this.buckets = buckets;
    this.cells = new AtomicLongArray(buckets.count() + 1);
  }

  public void record(long value) {
    add(buckets.of(value), 1);
    add(buckets.count(), value);
  }

  // No atomic addition: there is one writer, and it pays for being seen, not for being alone.
  private void add(int cell, long more) {
    cells.setOpaque(cell, cells.getPlain(cell) + more);
  }

  /** Adds what was recorded so far. */
  public void addTo(Point.Spread sum) {
    for (int i = 0; i < buckets.count(); i++) {
      sum.counts()[i] += cells.getOpaque(i);
    }
    sum.addSum(cells.getOpaque(buckets.count()) / buckets.perUnit());
  }
}
