package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;

/**
 * One revision's throttle at one moment.
 *
 * @param revision which one
 * @param containerConcurrency requests one pod may run at once; 0 means any number
 * @param capacity requests that may run at once through this activator; {@link
 *     Integer#MAX_VALUE} for any number
 * @param inFlight requests that run
 * @param queued requests that are queued
 * @param oldestWait how long the head of the queue has been there; zero if it is empty
 * @param pods destinations that take requests or still run some, in order
 */
public record ThrottleView(RevisionId revision, int containerConcurrency, int capacity,
    int inFlight, int queued, Duration oldestWait, List<PodView> pods) {

  /** One destination and the requests this activator runs on it. */
  public record PodView(Destination destination, int inFlight) {}
}
