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
 * <p><b>Threads.</b> The revision's loop writes; any thread may read.
 */
final class WaitEstimator {
  private static final int MAX_RETRY_AFTER_SECONDS = 60;
  private static final double NANOS_PER_SECOND = 1e9;

  private final Loop loop;
  private final RandomGenerator jitter;
  private volatile RecentStartDurations starts = RecentStartDurations.UNKNOWN;
  private volatile QueueDrainRate drain;
  /** How long the awaited node usually takes; 0 if none is awaited. */
  private volatile long nodeNanos;
  /** Whether the start in progress has waited for a node. */
  private boolean neededNode;
  /** The last destinations that were not empty. */
  private List<Destination> lastDestinations = List.of();

  /** @param seed the seed of the jitter; differs between revisions */
  WaitEstimator(Loop loop, long seed) {
    this.loop = loop;
    this.jitter = new Random(seed);
    this.drain = QueueDrainRate.UNKNOWN.restarted(loop.nanoTime());
  }

  /** Begins to measure a start. Returns whether this request is the first that waits for it. */
  boolean startAwaited() {
    boolean first = !starts.isAwaited();
    begin();
    starts = starts.awaited(loop.nanoTime());
    return first;
  }

  void startRefused() {
    begin();
    starts = starts.refused(loop.nanoTime());
  }

  /** A start that was given up says nothing about the next one. */
  private void begin() {
    if (!starts.isUnderWay(loop.nanoTime())) {
      neededNode = nodeNanos > 0;
    }
  }

  /** Stops the measurement, because no request waits for the start any more. */
  void startGivenUp() {
    starts = starts.ended();
  }

  /** @param usual how long the node that is added for the revision usually takes; zero if none is */
  void nodeAwaited(Duration usual) {
    nodeNanos = usual.toNanos();
    neededNode |= nodeNanos > 0;
  }

  void onSubset(DestinationSubset before, DestinationSubset now) {
    if (now.capacity() == 0) {
      return;
    }
    if (before.capacity() == 0) {
      // Pods that were only briefly unlisted have not been started again, and a start on a new node
      // says nothing about the next one, which finds that node.
      boolean measured = !neededNode && !lastDestinations.containsAll(now.destinations());
      starts = measured ? starts.started(loop.nanoTime()) : starts.ended();
      neededNode = false;
    }
    lastDestinations = now.destinations();
  }

  void queueStarted() {
    drain = drain.restarted(loop.nanoTime());
  }

  void queueGranted(int more) {
    drain = drain.afterGrants(more, loop.nanoTime());
  }

  /**
   * Whether even the fastest known start would take longer than this. False if no start is known.
   */
  boolean startTakesLongerThan(long nanos) {
    long remaining = starts.quickestRemainingNanos(loop.nanoTime());
    return remaining > 0 && nanos < remaining;
  }

  /** How long requests have waited for the current start; null if no request is queued for one. */
  @Nullable Duration startingFor() {
    var now = starts;
    return now.isAwaited() ? Duration.ofNanos(loop.nanoTime() - now.sinceNanos()) : null;
  }

  /**
   * The median duration of a start, or of the wait for a node if that is longer and one is awaited;
   * zero if unknown.
   */
  Duration usualStart() {
    return Duration.ofNanos(Math.max(starts.usualNanos(), nodeNanos));
  }

  int retryAfterDraining(int queued) {
    return retryAfterSeconds(queued / drain.at(loop.nanoTime()), jitter.nextDouble());
  }

  int retryAfterStarting() {
    var now = starts;
    long nanos = loop.nanoTime();
    long node = now.isAwaited() ? nodeNanos - (nanos - now.sinceNanos()) : nodeNanos;
    return retryAfterSeconds(
        Math.max(node, now.usualRemainingNanos(nanos)) / NANOS_PER_SECOND, jitter.nextDouble());
  }

  /**
   * At least a second, plus a jitter of up to half, so that callers that are rejected together do
   * not return together.
   */
  static int retryAfterSeconds(double seconds, double jitter) {
    double min = Math.clamp(Math.ceil(seconds), 1, MAX_RETRY_AFTER_SECONDS);
    return (int) (min + jitter * (1 + min / 2));
  }
}
