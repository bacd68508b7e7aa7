package dev.activator.throttle;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of another activator, as this one sees it.
 *
 * @param pod its name; empty until they are linked
 * @param problem why they are not linked; empty if they are
 * @param roundTrip the last measured round-trip time; zero if none was measured yet
 * @param load null if it has not reported its load lately
 */
public record PeerSnapshot(String address, String pod, State state, String problem,
    Duration roundTrip, @Nullable Load load) {
  public enum State {
    /** Both sides have proved that they are activators of this cluster. */
    LINKED,
    /** The address has refused connections for seconds, like that of Knative's activator. */
    LEGACY,
    /** One of the two sides could not prove that it is an activator. */
    UNAUTHORISED,
    UNREACHABLE
  }

  /** The requests at one activator. */
  public record Load(int inFlight, int queued) {
    public static Load of(Collection<ThrottleView> revisions) {
      return new Load(revisions.stream().mapToInt(ThrottleView::inFlight).sum(),
          revisions.stream().mapToInt(ThrottleView::queued).sum());
    }
  }

  /**
   * The other activators.
   *
   * <p><b>Threads.</b> Any.
   */
  public interface Source {
    /** There are no others. */
    Source NONE = new Source() {
      @Override
      public List<PeerSnapshot> views() {
        return List.of();
      }

      @Override
      public void requestLoads() {}
    };

    List<PeerSnapshot> views();

    /** Requests the loads of all linked activators. Snapshots have them as soon as they answer. */
    void requestLoads();
  }
}
