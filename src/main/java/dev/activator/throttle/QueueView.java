package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.revision.StartFailure;
import dev.activator.throttle.policy.ActivatorIndex;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One revision's throttle at one moment in detail, for people who ask why a request waits.
 *
 * @param now what runs and is queued
 * @param destinations how many this activator sends requests to; requests may run on others that
 *     are gone, or not its own any more
 * @param queue the bounds of its queue
 * @param start what is known of the start of its pods
 * @param activator which of the activators this one is
 * @param ejected destinations that could not be reached, and get nothing for a moment
 */
public record QueueView(ThrottleView now, int destinations, Bounds queue, Start start,
    ActivatorIndex activator, List<Destination> ejected) {

  /**
   * What is and may be queued.
   *
   * @param capacity how many requests may be queued
   * @param heldBytes what those that are queued hold
   * @param timeout how long one may be queued; zero for no limit but the revision's own
   */
  public record Bounds(int capacity, long heldBytes, Duration timeout) {}

  /**
   * The start of a revision that has no capacity.
   *
   * @param asked time since the first request was queued for it; null if none is
   * @param usual how long the last starts took, their median; zero if none was seen
   * @param failure why its containers do not start; null while nothing is known to be wrong
   */
  public record Start(@Nullable Duration asked, Duration usual, @Nullable StartFailure failure) {}
}
