package dev.activator.cluster.policy;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * How long to wait before a list and watch that ended is begun anew.
 *
 * <p>
 * <b>Source.</b> The back-off of {@code tools/cache/reflector.go} in client-go: from 0.8 s, doubled
 * each time up to 30 s, each up to twice as long by chance, so that many activators that lost the
 * same server do not come back at once; forgotten after two good minutes.
 */
public final class Backoff {
  private static final Duration FIRST = Duration.ofMillis(800);
  private static final Duration LONGEST = Duration.ofSeconds(30);
  private static final Duration GOOD = Duration.ofMinutes(2);
  private static final int MOST_DOUBLINGS = 10;

  private static final Duration LEAST_BETWEEN_LISTS = Duration.ofSeconds(1);
  private static final Duration BREATHER = Duration.ofSeconds(2);
  private static final Duration LONGEST_BREATHER = Duration.ofSeconds(20);
  private static final double BREATHER_SPREAD = 0.5;

  private Backoff() {}

  /**
   * The pause before the next attempt.
   *
   * @param failures how many ended badly in a row before the one that just ended
   */
  public static Duration pause(int failures, RandomGenerator random) {
    return spread(doubled(FIRST, failures, LONGEST), 1.0, random);
  }

  /** Whether one that lasted so long went well, so that those before it no longer count. */
  public static boolean wentWell(Duration lasted) {
    return lasted.compareTo(GOOD) >= 0;
  }

  /** Whether lists follow each other so fast that the server must be spared. */
  public static boolean isTooSoon(Duration sinceTheLastList) {
    return sinceTheLastList.compareTo(LEAST_BETWEEN_LISTS) < 0;
  }

  /**
   * How long the server is spared then: two to three seconds, so that all is well soon after it is,
   * and up to thirty where no watch is let in.
   *
   * @param refusals how many times in a row it was spared before, without a watch in between
   */
  public static Duration breather(int refusals, RandomGenerator random) {
    return spread(doubled(BREATHER, refusals, LONGEST_BREATHER), BREATHER_SPREAD, random);
  }

  /** The same, up to a share longer or shorter: no two activators audit at the same time for long. */
  public static Duration jittered(Duration period, double share, RandomGenerator random) {
    long nanos = period.toNanos();
    return Duration.ofNanos((long) (nanos * (1 - share + 2 * share * random.nextDouble())));
  }

  private static Duration doubled(Duration first, int times, Duration longest) {
    var grown = first.multipliedBy(1L << Math.min(times, MOST_DOUBLINGS));
    return grown.compareTo(longest) < 0 ? grown : longest;
  }

  private static Duration spread(Duration pause, double share, RandomGenerator random) {
    return Duration.ofNanos((long) (pause.toNanos() * (1 + share * random.nextDouble())));
  }
}
