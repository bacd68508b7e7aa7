package dev.activator.cluster.policy;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Exponential, with jitter so that many activators do not return to a server at once. Not
 * thread-safe.
 *
 * <p><b>Source.</b> client-go's {@code reflector.go}: 0.8 s to 30 s, reset after two minutes without a
 * failure.
 */
public final class Backoff {
  private static final Duration LONGEST = Duration.ofSeconds(30);
  private static final int MOST_DOUBLINGS = 10;
  private static final int SHARE_OF_OUTAGE = 12;
  private static final Duration FIRST_OF_FREQUENT = Duration.ofSeconds(2);
  private static final Duration LONGEST_OF_FREQUENT = Duration.ofSeconds(20);

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

  /** Between failed lists, and before the list after a broken watch. */
  public static Backoff ofLists(RandomGenerator random) {
    return new Backoff(Duration.ofMillis(800), LONGEST, 1.0, random);
  }

  /** Starts short: no event arrives until the next watch is open. */
  public static Backoff ofWatches(RandomGenerator random) {
    return new Backoff(Duration.ofMillis(200), LONGEST, 1.0, random);
  }

  public Duration next() {
    var grown = first.multipliedBy(1L << Math.min(failures++, MOST_DOUBLINGS));
    var pause = grown.compareTo(longest) < 0 ? grown : longest;
    return Duration.ofNanos((long) (pause.toNanos() * (1 + spread * random.nextDouble())));
  }

  public void reset() {
    failures = 0;
  }

  /**
   * For a list that follows others too fast: a twelfth of the outage, 2 to 20 seconds plus jitter.
   * A long outage costs the server few lists; a short one delays events little.
   */
  public static Duration ofFrequentLists(Duration outage, RandomGenerator random) {
    var share = outage.dividedBy(SHARE_OF_OUTAGE);
    var capped = share.compareTo(LONGEST_OF_FREQUENT) < 0 ? share : LONGEST_OF_FREQUENT;
    var pause = capped.compareTo(FIRST_OF_FREQUENT) < 0 ? FIRST_OF_FREQUENT : capped;
    return Duration.ofNanos((long) (pause.toNanos() * (1 + random.nextDouble() / 2)));
  }

  public static Duration jittered(Duration period, double share, RandomGenerator random) {
    long nanos = period.toNanos();
    return Duration.ofNanos((long) (nanos * (1 - share + 2 * share * random.nextDouble())));
  }
}
