package dev.activator.loop.policy;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * An exponential schedule of retries. It has jitter, so that many clients do not return to a server
 * at the same time. Not thread-safe.
 */
public final class Backoff {
  /**
   * The maximum {@code Retry-After} that is respected, so that a server or a proxy cannot stop a
   * client for hours.
   */
  public static final Duration MAX_RETRY_AFTER = Duration.ofMinutes(5);
  private static final Duration MAX_NANOS = Duration.ofNanos(Long.MAX_VALUE);
  private static final double RETRY_AFTER_JITTER = 0.5;
  private static final double DOUBLING = 2;
  private static final double MAX_FACTOR = 1 << 10;

  private final Duration first;
  private final Duration max;
  private final double jitter;
  private final RandomGenerator random;
  private final double growth;
  /** The current factor. It stays at its maximum, so that it cannot overflow. */
  private double factor = 1;

  /**
   * A schedule whose pauses double.
   *
   * @param jitter the share by which a pause may be longer
   */
  public Backoff(Duration first, Duration max, double jitter, RandomGenerator random) {
    this(first, max, DOUBLING, jitter, random);
  }

  /**
   * @param growth the factor from one pause to the next
   * @param jitter the share by which a pause may be longer
   */
  public Backoff(Duration first, Duration max, double growth, double jitter,
      RandomGenerator random) {
    this.first = first;
    this.max = max;
    this.growth = growth;
    this.jitter = jitter;
    this.random = random;
  }

  public Duration next() {
    return next(Duration.ZERO);
  }

  /** @param retryAfter the pause that the server requested; zero if none */
  public Duration next(Duration retryAfter) {
    return next(retryAfter, max);
  }

  /**
   * @param retryAfter the pause that the server requested; zero if none
   * @param limit the maximum of this pause, if the cause of this failure ends sooner than others
   */
  public Duration next(Duration retryAfter, Duration limit) {
    var grown = Duration.ofNanos((long) (first.toNanos() * factor));
    factor = Math.min(factor * growth, MAX_FACTOR);
    var maximum = limit.compareTo(max) < 0 ? limit : max;
    var next = longer(grown.compareTo(maximum) < 0 ? grown : maximum, jitter, random);
    if (retryAfter.isZero()) {
      return next;
    }
    var server = retryAfter(retryAfter, random);
    return next.compareTo(server) < 0 ? server : next;
  }

  public void reset() {
    factor = 1;
  }

  /** The pause for a server's {@code Retry-After}: never shorter, and different for each client. */
  public static Duration retryAfter(Duration requested, RandomGenerator random) {
    return longer(limited(requested), RETRY_AFTER_JITTER, random);
  }

  /** The server's {@code Retry-After}, limited to {@link #MAX_RETRY_AFTER}. */
  public static Duration limited(Duration requested) {
    return requested.compareTo(MAX_RETRY_AFTER) < 0 ? requested : MAX_RETRY_AFTER;
  }

  /** The pause, lengthened randomly by up to this share of it. */
  public static Duration longer(Duration pause, double share, RandomGenerator random) {
    return Duration.ofNanos((long) (pause.toNanos() * (1 + share * random.nextDouble())));
  }

  /** The period, shortened or lengthened randomly by up to this share of it. */
  public static Duration jittered(Duration period, double share, RandomGenerator random) {
    long nanos = period.compareTo(MAX_NANOS) < 0 ? period.toNanos() : Long.MAX_VALUE;
    return Duration.ofNanos((long) (nanos * (1 - share + 2 * share * random.nextDouble())));
  }
}
