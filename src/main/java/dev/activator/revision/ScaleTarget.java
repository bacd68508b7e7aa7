package dev.activator.revision;

import java.time.Duration;

/**
 * What a {@link ScaleClient} starts and stops. It is a value: two that are equal are the same thing.
 * Its text names it in messages, such as {@code Deployment web}.
 */
public interface ScaleTarget {
  /** Such as {@code Deployment}. */
  String kind();

  String name();

  /** How it is started: {@code scale}, {@code patch} or {@code http}. */
  default String startedBy() {
    return "scale";
  }

  /**
   * How long it has no requests until its last replicas are removed, if that is longer than the
   * window over which its load is averaged.
   */
  default Duration idleAfter() {
    return Duration.ZERO;
  }
}
