package dev.activator.stats;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Pauses grow to about eleven seconds and start over after twenty attempts.
 *
 * <p><b>Source.</b> {@code connectionBackoff} in Knative's {@code pkg/websocket/connection.go}.
 */
final class ReconnectSchedule {
  static final int ATTEMPTS = 20;

  private static final double FIRST_PAUSE_MILLIS = 100;
  private static final double GROWTH = 1.3;
  private static final double JITTER = 0.5;

  private ReconnectSchedule() {}

  /** @param failures in a row; 0 if the link just broke: no pause */
  static Duration pause(int failures, RandomGenerator random) {
    if (failures == 0) {
      return Duration.ZERO;
    }
    int step = failures % ATTEMPTS == 0 ? 0 : failures % ATTEMPTS - 1;
    double millis = FIRST_PAUSE_MILLIS * Math.pow(GROWTH, step);
    double jittered = millis * (1 + JITTER * random.nextDouble());
    return Duration.ofNanos((long) (jittered * 1_000_000));
  }
}
