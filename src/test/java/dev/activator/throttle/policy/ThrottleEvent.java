package dev.activator.throttle.policy;

import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import java.time.Duration;

/** What can happen to one revision's throttle. Waiters are known by number. */
public sealed interface ThrottleEvent {
  /** Time passes. */
  record Passed(Duration time) implements ThrottleEvent {}

  /** A request asks to run. */
  record Arrived(long waiter) implements ThrottleEvent {}

  /** A request that ran there was answered. */
  record Released(long waiter, Destination destination) implements ThrottleEvent {}

  /** The caller of a request that ran there left before it was answered. */
  record Abandoned(long waiter, Destination destination) implements ThrottleEvent {}

  /** A request that ran there is over; nothing is to be learned of it. */
  record Broken(Destination destination) implements ThrottleEvent {}

  /** A request that was to run there could not be delivered: it waits again, and before others. */
  record Undelivered(long waiter, Destination destination) implements ThrottleEvent {}

  /** A request that may be queued does not wait any longer. */
  record GaveUp(long waiter) implements ThrottleEvent {}

  /**
   * These destinations are now this activator's, and requests are spread this way.
   *
   * @param behind the pods behind the ClusterIP, if that is the destination; else none
   */
  record SubsetChanged(DestinationSubset subset, DestinationSet behind, Balancer balancer)
      implements ThrottleEvent {
    SubsetChanged(DestinationSubset subset, Balancer balancer) {
      this(subset, DestinationSet.NONE, balancer);
    }
  }

  /** The revision's containers were newly found not to start. */
  record StartFailed() implements ThrottleEvent {}

  /** The revision was deleted. */
  record Gone() implements ThrottleEvent {}
}
