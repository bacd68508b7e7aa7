package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.throttle.policy.DrainRate;
import dev.activator.throttle.policy.StartTimes;
import dev.activator.throttle.policy.Subset;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Estimates when one revision will have room, from its past starts and from how fast its queue
 * drains.
 *
 * <p>
 * <b>Threads.</b> The revision's loop tells what happens; any thread may ask.
 */
final class StartEstimator {
  private static final int MAX_RETRY_AFTER_SECONDS = 60;
  private static final double NANOS_PER_SECOND = 1e9;

  private final Loop loop;
  private final RandomGenerator jitter;
  private volatile StartTimes starts = StartTimes.UNKNOWN;
  private volatile DrainRate drain = DrainRate.UNKNOWN;
  /** The last destinations that were not empty. */
  private List<Destination> lastDestinations = List.of();

  /** @param seed of the jitter; another one for each revision */
  StartEstimator(Loop loop, long seed) {
    this.loop = loop;
    this.jitter = new Random(seed);
  }

  /** A request found no capacity and is queued. */
  void startAwaited() {
    starts = starts.awaited(loop.nanoTime());
  }

  /** A request found no capacity and was refused. */
  void startRefused() {
    starts = starts.refused(loop.nanoTime());
  }

  /** No request is queued for the start any more, so it is not measured. */
  void startGivenUp() {
    starts = starts.ended();
  }

  /** Requests go to other destinations than before. */
  void rerouted(Subset before, Subset now) {
    if (now.capacity() == 0) {
      return;
    }
    if (before.capacity() == 0) {
      // Pods that were unlisted for a moment have not started.
      boolean known = lastDestinations.containsAll(now.destinations());
      starts = known ? starts.ended() : starts.started(loop.nanoTime());
    }
    lastDestinations = now.destinations();
  }

  /** The queue was empty and is not any more. */
  void queueStarted() {
    drain = drain.restarted(loop.nanoTime());
  }

  /** This many queued requests got a permit. */
  void queueGranted(int more) {
    drain = drain.afterGrants(more, loop.nanoTime());
  }

  /** Whether the current start, or one that begins now, will need more than this, as none was faster. */
  boolean startTakesLongerThan(long nanos) {
    return nanos < starts.quickestRemainingNanos(loop.nanoTime());
  }

  /** How long a start that requests are queued for has been under way; null if none is. */
  @Nullable Duration startingFor() {
    var now = starts;
    return now.isAwaited() ? Duration.ofNanos(loop.nanoTime() - now.sinceNanos()) : null;
  }

  /** The median of the last starts; zero if unknown. */
  Duration usualStart() {
    return Duration.ofNanos(starts.usualNanos());
  }

  /** When a refused caller may come again while requests run and this many are queued. */
  int retryAfterDraining(int queued) {
    return retryAfterSeconds(queued / drain.at(loop.nanoTime()), jitter.nextDouble());
  }

  /** When a refused caller may come again while nothing can run. */
  int retryAfterStarting() {
    return retryAfterSeconds(starts.usualRemainingNanos(loop.nanoTime()) / NANOS_PER_SECOND,
        jitter.nextDouble());
  }

  /**
   * A {@code Retry-After} for when there is expected to be room: at least a second, and up to half
   * as long again, so that callers refused together do not come back together.
   *
   * @param jitter from 0 to below 1
   */
  static int retryAfterSeconds(double seconds, double jitter) {
    double least = Math.clamp(Math.ceil(seconds), 1, MAX_RETRY_AFTER_SECONDS);
    return (int) (least + jitter * (1 + least / 2));
  }
}
