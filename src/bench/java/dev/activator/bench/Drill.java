package dev.activator.bench;

/** A drill: something is broken again and again, and what must hold is checked. */
public abstract class Drill {
  private boolean failed;

  /** Prints what does not hold; the drill goes on. */
  protected final void check(boolean holds, String failure) {
    if (!holds) {
      failed = true;
      System.out.println("FAILED: " + failure);
    }
  }

  /** Whether all that was checked held. */
  protected final boolean isPassed() {
    return !failed;
  }

  /** A percentile in milliseconds. */
  protected static double millis(long[] sortedNanos, double part) {
    return sortedNanos.length == 0
        ? Double.NaN
        : sortedNanos[(int) Math.ceil(sortedNanos.length * part) - 1] / 1e6;
  }
}
