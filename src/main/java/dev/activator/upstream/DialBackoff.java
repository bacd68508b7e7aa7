package dev.activator.upstream;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The timeouts of connection attempts to a pod, and the pauses between them. The first timeouts are
 * short, so that a packet that is lost while a pod's network is set up costs 50 ms and not a
 * second. TLS handshakes have their own timeout, and are not repeated.
 *
 * <p><b>Source.</b> {@code dialBackOffHelper} in Knative networking's {@code transports.go}.
 *
 * @param random spreads simultaneous attempts
 */
record DialBackoff(RandomGenerator random) {
  /** The number of attempts; they take about 20 seconds together. */
  static final int ATTEMPTS = 16;

  /**
   * The timeout of a TLS handshake. It is longer than that of an attempt: a pod with little CPU,
   * such as one that starts, may need most of a second to sign.
   */
  static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(5);

  private static final Duration AFTER_HANDSHAKE = Duration.ofSeconds(1);
  private static final double FIRST_MILLIS = 50;
  private static final double GROWTH = 1.4;
  private static final double JITTER = 0.1;
  private static final double NANOS_PER_MILLI = 1e6;

  /** @param attempt the number of the attempt, from 0 */
  Duration timeout(int attempt) {
    if (attempt == 0) {
      return millis(FIRST_MILLIS);
    }
    double base = FIRST_MILLIS * Math.pow(GROWTH, attempt - 1);
    return millis(base * (1 + JITTER * random.nextDouble()));
  }

  /** 30 to 60 ms. */
  Duration pause() {
    return millis(30 + 30 * random.nextDouble());
  }

  /** How much longer to wait after a handshake for the pod's SETTINGS; 0 if the time is over. */
  static long graceNanos(long sinceHandshakeNanos) {
    return Math.max(0, AFTER_HANDSHAKE.toNanos() - sinceHandshakeNanos);
  }

  private static Duration millis(double millis) {
    return Duration.ofNanos((long) (millis * NANOS_PER_MILLI));
  }
}
