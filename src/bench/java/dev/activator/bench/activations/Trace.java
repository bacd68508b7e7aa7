package dev.activator.bench.activations;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * Requests to many revisions in the shape of what Azure published of its functions: a few revisions get most
 * of them (Zipf's law), half of the revisions get theirs in bursts, and their durations differ by orders of
 * magnitude (log-normal). The same seed makes the same trace.
 *
 * <p><b>Source.</b> Shahrad et al., Serverless in the Wild, 2020.
 */
final class Trace {
  private static final double ZIPF = 1.1;
  private static final double MEAN_BURST = 12;
  private static final double BURST_SECONDS = 0.5;
  private static final double MEDIAN_SECONDS = 0.02;
  private static final double SIGMA = 1;
  private static final double MAX_SECONDS = 2;

  /** @param nanos since the begin of the trace */
  record Arrival(long nanos, int revision, long serviceNanos) {}

  private Trace() {}

  /** Arrivals in order. */
  static List<Arrival> of(long seed, int revisions, double perSecond, double seconds) {
    var random = new Random(seed);
    double sum = 0;
    for (int rank = 1; rank <= revisions; rank++) {
      sum += Math.pow(rank, -ZIPF);
    }
    var arrivals = new ArrayList<Arrival>();
    for (int revision = 0; revision < revisions; revision++) {
      double rate = perSecond * Math.pow(revision + 1, -ZIPF) / sum;
      boolean bursts = revision % 2 == 1;
      double burstRate = bursts ? rate / MEAN_BURST : rate;
      double median = MEDIAN_SECONDS * Math.exp(SIGMA * random.nextGaussian());
      for (double at = gap(random, burstRate); at < seconds; at += gap(random, burstRate)) {
        int requests = bursts ? burst(random) : 1;
        for (int i = 0; i < requests; i++) {
          double when = bursts ? at + BURST_SECONDS * random.nextDouble() : at;
          double service = Math.min(MAX_SECONDS,
              median * Math.exp(SIGMA / 2 * random.nextGaussian()));
          arrivals.add(
              new Arrival((long) (when * 1e9), revision, Math.max(1_000, (long) (service * 1e9))));
        }
      }
    }
    arrivals.sort(Comparator.comparingLong(Arrival::nanos));
    return arrivals;
  }

  private static double gap(Random random, double rate) {
    return -Math.log(1 - random.nextDouble()) / rate;
  }

  /** Geometric. */
  private static int burst(Random random) {
    return 1 + (int) (Math.log(1 - random.nextDouble()) / Math.log(1 - 1 / MEAN_BURST));
  }
}
