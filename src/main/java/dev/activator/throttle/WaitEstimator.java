package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.throttle.policy.DestinationSubset;
import dev.activator.throttle.policy.QueueDrainRate;
import dev.activator.throttle.policy.RecentStartDurations;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Estimates how long a new request to one revision would wait, from past starts and the queue's
 * drain rate.
 *
 * <p><b>Threads.</b> The revision's loop writes, any reads.
 */
final class WaitEstimator {
  private static final int MAX_RETRY_AFTER_SECONDS = 60;
  private static final double NANOS_PER_SECOND = 1e9;

  private final Loop loop;
  private final RandomGenerator jitter;
  private volatile RecentStartDurations starts = RecentStartDurations.UNKNOWN;
  private volatile QueueDrainRate drain;
  /** The last list of destinations that was not empty. */
  private List<Destination> lastDestinations = List.of();

  /** @param seed of the jitter; differs between revisions */
  WaitEstimator(Loop loop, long seed) {
    this.loop = loop;
    this.jitter = new Random(seed);
    this.drain = QueueDrainRate.UNKNOWN.restarted(loop.nanoTime());
  }

  /** Begins to measure a start. Returns whether no request waited for one before. */
  boolean startAwaited() {
    boolean first = !starts.isAwaited();
    starts = starts.awaited(loop.nanoTime());
    return first;
  }

  void startRefused() {
    starts = starts.refused(loop.nanoTime());
  }

  /** No request waits for the start, so it is not measured. */
  void startGivenUp() {
    starts = starts.ended();
  }

  void rerouted(DestinationSubset before, DestinationSubset now) {
    if (now.capacity() == 0) {
      return;
    }
    if (before.capacity() == 0) {
      // Pods that were briefly unlisted have not started.
      boolean known = lastDestinations.containsAll(now.destinations());
      starts = known ? starts.ended() : starts.started(loop.nanoTime());
    }
    lastDestinations = now.destinations();
  }

  void queueStarted() {
    drain = drain.restarted(loop.nanoTime());
  }

  void queueGranted(int more) {
    drain = drain.afterGrants(more, loop.nanoTime());
  }

  /** Judges by the fastest known start; false if none is known, even for a time that is over. */
  boolean startTakesLongerThan(long nanos) {
    long remaining = starts.quickestRemainingNanos(loop.nanoTime());
    return remaining > 0 && nanos < remaining;
  }

  /** Null if no request is queued for a start. */
  @Nullable Duration startingFor() {
    var now = starts;
    return now.isAwaited() ? Duration.ofNanos(loop.nanoTime() - now.sinceNanos()) : null;
  }

  /** In nanoseconds, the oldest first. */
  List<Long> recentStarts() {
    return starts.recentNanos();
  }

  /** The median; zero if unknown. */
  Duration usualStart() {
    return Duration.ofNanos(starts.usualNanos());
  }

  int retryAfterDraining(int queued) {
    return retryAfterSeconds(queued / drain.at(loop.nanoTime()), jitter.nextDouble());
  }

  int retryAfterStarting() {
    return retryAfterSeconds(starts.usualRemainingNanos(loop.nanoTime()) / NANOS_PER_SECOND,
        jitter.nextDouble());
  }

  /**
   * At least a second, plus up to half as jitter, so that callers rejected together do not return
   * together.
   */
  static int retryAfterSeconds(double seconds, double jitter) {
    double min = Math.clamp(Math.ceil(seconds), 1, MAX_RETRY_AFTER_SECONDS);
    return (int) (min + jitter * (1 + min / 2));
  }
}
