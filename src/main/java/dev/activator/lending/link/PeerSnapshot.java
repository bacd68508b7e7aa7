package dev.activator.lending.link;

import java.time.Duration;

/**
 * A snapshot of another activator, as this one sees it.
 *
 * @param pod its name; empty until they are linked
 * @param problem why they are not linked; empty if they are
 * @param roundTrip the last measured round-trip time; zero if none was measured yet
 */
public record PeerSnapshot(String address, String pod, State state, String problem,
    Duration roundTrip) {
  public enum State {
    /** Both sides have proved that they are activators of this cluster. */
    LINKED,
    /** The address refuses connections, like Knative's activator. */
    LEGACY,
    /** One of the two sides could not prove that it is an activator. */
    UNAUTHORISED,
    UNREACHABLE
  }
}
