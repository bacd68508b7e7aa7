package dev.activator.upstream;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * How long each attempt to connect may take, and how long to wait between two. The first attempts
 * are short: a packet lost while a pod's network is set up costs 50 ms and not a second.
 *
 * <p>
 * <b>Source.</b> {@code dialBackOffHelper} in Knative networking's {@code transports.go}.
 *
 * @param random spreads the attempts of requests that started together
 */
record DialPlan(RandomGenerator random) {
  /** The most attempts, about 20 seconds in all. */
  static final int ATTEMPTS = 16;

  private static final double FIRST_MILLIS = 50;
  private static final double GROWTH = 1.4;
  private static final double JITTER = 0.1;
  private static final double NANOS_PER_MILLI = 1e6;

  /**
   * The timeout of an attempt.
   *
   * @param attempt 0 for the first, less than {@link #ATTEMPTS}
   */
  Duration timeout(int attempt) {
    if (attempt == 0) {
      return millis(FIRST_MILLIS);
    }
    double base = FIRST_MILLIS * Math.pow(GROWTH, attempt - 1);
    return millis(base * (1 + JITTER * random.nextDouble()));
  }

  /** The wait before the next attempt: 30 to 60 ms. */
  Duration pause() {
    return millis(30 + 30 * random.nextDouble());
  }

  /** What an attempt has left, in whole milliseconds; 1 at least, as 0 would be no limit to Netty. */
  static long millisLeft(Duration timeout, long elapsedNanos) {
    return Math.max(1, timeout.minusNanos(elapsedNanos).toMillis());
  }

  private static Duration millis(double millis) {
    return Duration.ofNanos((long) (millis * NANOS_PER_MILLI));
  }
}
