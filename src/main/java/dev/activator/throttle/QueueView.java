package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.revision.StartFailure;
import dev.activator.throttle.policy.ActivatorIndex;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of one revision's throttle at one moment, for people who ask why a request
 * waits.
 *
 * @param now what runs and waits
 * @param destinations how many this activator sends requests to; some may run on others that are
 *     gone, or not its own any more
 * @param queue the bounds of its queue
 * @param start what is known of the start of its pods
 * @param activator which of the activators this one is
 * @param aside destinations that could not be reached, and get nothing for a moment
 */
public record QueueView(ThrottleView now, int destinations, Bounds queue, Start start,
    ActivatorIndex activator, List<Destination> aside) {

  /**
   * What waiting requests may take.
   *
   * @param capacity how many may wait
   * @param heldBytes what those that do hold
   * @param timeout how long one may wait; zero for no limit but the revision's own
   */
  public record Bounds(int capacity, long heldBytes, Duration timeout) {}

  /**
   * The start of a revision that has no capacity.
   *
   * @param asked since the first request found none that waits for it; null while nobody does
   * @param usual how long the last ones took, the middle of them; zero if none was seen
   * @param failure why its containers do not start; null while nothing is known to be wrong
   */
  public record Start(@Nullable Duration asked, Duration usual, @Nullable StartFailure failure) {}
}
