package dev.activator.cluster.policy;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Pauses between attempts: doubled each time up to a longest, each longer by a random share, so that
 * many activators that lost the same server do not come back at once. Not safe for threads.
 *
 * <p>
 * <b>Source.</b> The back-off of {@code tools/cache/reflector.go} in client-go: from 0.8 s up to 30 s,
 * each up to twice as long by chance; forgotten after two good minutes.
 */
public final class Backoff {
  private static final Duration LONGEST = Duration.ofSeconds(30);
  private static final int MOST_DOUBLINGS = 10;

  private final Duration first;
  private final Duration longest;
  private final double spread;
  private final RandomGenerator random;
  private int failures;

  private Backoff(Duration first, Duration longest, double spread, RandomGenerator random) {
    this.first = first;
    this.longest = longest;
    this.spread = spread;
    this.random = random;
  }

  /** Between lists that fail, and before what broke is begun anew. */
  public static Backoff ofLists(RandomGenerator random) {
    return new Backoff(Duration.ofMillis(800), LONGEST, 1.0, random);
  }

  /** Between watches: short at first, as nothing is heard until the next one. */
  public static Backoff ofWatches(RandomGenerator random) {
    return new Backoff(Duration.ofMillis(200), LONGEST, 1.0, random);
  }

  /** Before a list that follows others too fast: two to three seconds, and up to thirty. */
  public static Backoff ofFrequentLists(RandomGenerator random) {
    return new Backoff(Duration.ofSeconds(2), Duration.ofSeconds(20), 0.5, random);
  }

  /** The pause before the next attempt. */
  public Duration next() {
    var grown = first.multipliedBy(1L << Math.min(failures++, MOST_DOUBLINGS));
    var pause = grown.compareTo(longest) < 0 ? grown : longest;
    return Duration.ofNanos((long) (pause.toNanos() * (1 + spread * random.nextDouble())));
  }

  /** The next pause is the shortest again. */
  public void reset() {
    failures = 0;
  }

  /** The period, up to a share longer or shorter. */
  public static Duration jittered(Duration period, double share, RandomGenerator random) {
    long nanos = period.toNanos();
    return Duration.ofNanos((long) (nanos * (1 - share + 2 * share * random.nextDouble())));
  }
}
