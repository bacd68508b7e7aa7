package dev.activator.bench.activations;

import java.util.Random;

/**
 * How long pods take from when they are listed until they listen. Each revision has its own usual delay, from a
 * histogram, from which each start differs by up to 15 %.
 */
final class StartDelays {
  /** The delays at each tenth of the revisions, from the fastest to the slowest. */
  private static final double[] MILLIS = {80, 120, 150, 180, 210, 250, 300, 380, 500, 800, 1_500};
  private static final double SPREAD = 0.15;

  private final long[] usualNanos;
  private final Random random;

  /** @param millis of every revision; negative for the histogram */
  StartDelays(int revisions, double millis, long seed) {
    random = new Random(seed);
    usualNanos = new long[revisions];
    for (int i = 0; i < revisions; i++) {
      double at = random.nextDouble() * (MILLIS.length - 1);
      int below = (int) at;
      double usual = millis >= 0
          ? millis
          : MILLIS[below] + (at - below) * (MILLIS[below + 1] - MILLIS[below]);
      usualNanos[i] = (long) (usual * 1e6);
    }
  }

  long nextNanos(int revision) {
    return (long) (usualNanos[revision] * (1 + SPREAD * (2 * random.nextDouble() - 1)));
  }
}
