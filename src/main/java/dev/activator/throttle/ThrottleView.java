package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import dev.activator.throttle.policy.ActivatorIndex;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One revision's throttle at one moment.
 *
 * @param revision which one
 * @param containerConcurrency requests one pod may run at once; 0 means any number
 * @param capacity requests that may run at once through this activator; {@link
 *     Integer#MAX_VALUE} for any number
 * @param inFlight requests that run
 * @param queued requests that are queued
 * @param oldestWait how long the oldest request in the queue has been there; zero if it is empty
 * @param newestFirst whether new requests run before those that are queued already, since callers
 *     leave before they are served
 * @param pods destinations that take requests or still run some, in order
 */
public record ThrottleView(RevisionId revision, int containerConcurrency, int capacity,
    int inFlight, int queued, Duration oldestWait, boolean newestFirst,
    List<PodView> pods) {
  /** One destination and the requests this activator runs on it. */
  public record PodView(Destination destination, int inFlight) {}

  /**
   * More, for people who ask why a request waits.
   *
   * @param now what runs and is queued
   * @param destinations how many this activator sends requests to; requests may run on others that
   *     are gone, or not its own any more
   * @param queue what the queue holds and may hold
   * @param start what is known of the start of its pods
   * @param activator which of the activators this one is
   * @param ejected destinations that could not be reached, and get nothing for a moment
   */
  public record Details(ThrottleView now, int destinations, Queue queue, Start start,
      ActivatorIndex activator, List<Destination> ejected) {}

  /**
   * The bounds of the queue.
   *
   * @param capacity how many requests may be queued
   * @param heldBytes what those that are queued hold
   * @param timeout how long one may be queued; zero for no limit but the revision's own
   */
  public record Queue(int capacity, long heldBytes, Duration timeout) {}

  /**
   * The start of a revision that has no capacity.
   *
   * @param asked time since the first request was queued for it; null if none is
   * @param usual how long the last starts took, their median; zero if none was seen
   * @param failure why its containers do not start; null while nothing is known to be wrong
   */
  public record Start(@Nullable Duration asked, Duration usual, @Nullable StartFailure failure) {}
}
