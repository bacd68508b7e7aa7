package dev.activator.bench.activations;

import dev.activator.bench.PodSource.Pod;

/**
 * One start of a revision from zero, seen from outside: 0 for what has not happened.
 *
 * <p><b>Units.</b> Times are those of {@link System#nanoTime()}.
 */
final class Activation {
  final int revision;
  final Pod pod;
  /** When the request was due that starts it. */
  final long arrivedNanos;
  /** When its first statistic was received. */
  volatile long reportedNanos;
  /** When its pod was meant to listen, and when it did. */
  volatile long startsNanos;
  volatile long listensNanos;

  Activation(int revision, Pod pod, long arrivedNanos) {
    this.revision = revision;
    this.pod = pod;
    this.arrivedNanos = arrivedNanos;
  }
}
