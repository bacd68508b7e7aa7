package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.throttle.policy.DrainRate;
import dev.activator.throttle.policy.RetryAfter;
import dev.activator.throttle.policy.StartTimes;
import dev.activator.throttle.policy.Subset;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * When one revision will have room: what its starts and its queue have taught.
 *
 * <p>
 * <b>Threads.</b> The revision's loop tells what happens; any thread may ask.
 */
final class Outlook {
  private final Loop loop;
  private final RandomGenerator jitter;
  private volatile StartTimes starts = StartTimes.UNKNOWN;
  private volatile DrainRate drain = DrainRate.UNKNOWN;
  /** Where requests went last; kept while there is nowhere to go. */
  private List<Destination> lastDestinations = List.of();

  /** @param seed makes what callers of one revision are told different from others' */
  Outlook(Loop loop, long seed) {
    this.loop = loop;
    this.jitter = new SharedRandom(seed);
  }

  // What the loop tells.

  /** A request found no capacity, and waits for some. */
  void startAwaited() {
    starts = starts.awaited(loop.nanoTime());
  }

  /** A request found no capacity, and was refused. */
  void startRefused() {
    starts = starts.refused(loop.nanoTime());
  }

  /** Nobody waits for a start any more, so when it is done says nothing of how long it takes. */
  void startGivenUp() {
    starts = starts.ended();
  }

  /** Requests go elsewhere than before. */
  void rerouted(Subset before, Subset now) {
    if (now.capacity() == 0) {
      return;
    }
    if (before.capacity() == 0) {
      // Pods that were only away for a moment have not started.
      boolean known = lastDestinations.containsAll(now.destinations());
      starts = known ? starts.ended() : starts.came(loop.nanoTime());
    }
    lastDestinations = now.destinations();
  }

  /** Somebody waits, and nobody did before. */
  void queueBegan() {
    drain = drain.begun(loop.nanoTime());
  }

  /** So many that waited run. */
  void queueMoved(int more) {
    drain = drain.moved(more, loop.nanoTime());
  }

  // What anybody asks.

  /** Whether a start that is under way, or begins now, is surely not done within this time. */
  boolean startsAfter(long nanos) {
    return nanos < starts.leastNanosLeft(loop.nanoTime());
  }

  /** Since when a start that somebody waits for is under way, as a length; null if none is. */
  @Nullable Duration startingFor() {
    var now = starts;
    return now.isAwaited() ? Duration.ofNanos(loop.nanoTime() - now.sinceNanos()) : null;
  }

  /** How long a start takes as a rule; zero if unknown. */
  Duration usualStart() {
    return Duration.ofNanos(starts.usualNanos());
  }

  /** When a caller may come again while something runs, and so many wait. */
  int retryAfterDraining(int waiting) {
    return RetryAfter.whileDraining(waiting, drain.at(loop.nanoTime()), jitter.nextDouble());
  }

  /** When a caller may come again while nothing can run. */
  int retryAfterStarting() {
    return RetryAfter.whileStarting(starts.usualNanosLeft(loop.nanoTime()), jitter.nextDouble());
  }
}
