package dev.activator.lending.link;

import java.time.Duration;

/**
 * Another activator, as this one sees it.
 *
 * @param pod its name; empty until they are linked
 * @param problem why they are not linked; empty if they are
 * @param roundTrip as last measured; zero before
 */
public record PeerView(String address, String pod, State state, String problem,
    Duration roundTrip) {
  public enum State {
    /** Both have proved that they are activators of this cluster. */
    LINKED,
    /** Nothing listens there, as with Knative's activator. */
    LEGACY,
    /** One of the two could not prove that it is an activator. */
    UNAUTHORISED,
    UNREACHABLE
  }
}
