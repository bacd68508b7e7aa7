package dev.activator.console.policy;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One revision at one moment, and what its requests depend on.
 *
 * @param revision which
 * @param demand who runs and who waits
 * @param room for how many there is room
 * @param pods all that Kubernetes lists, in order
 * @param routing how pods can be reached
 * @param start what is known of the start of its pods
 * @param signals whether news come in and get out
 */
public record Situation(RevisionId revision, Demand demand, Room room, List<Pod> pods,
    Routing routing, Start start, Signals signals) {
  public Situation {
    pods = List.copyOf(pods);
  }

  /** Where requests could not be delivered a moment ago. */
  List<Destination> undelivered() {
    return Stream.concat(room.aside().stream(),
        pods.stream().filter(Pod::suspected).map(Pod::address)).distinct().sorted().toList();
  }

  /**
   * Who runs and who waits.
   *
   * @param inFlight requests that run
   * @param queued requests that wait
   * @param queueCapacity how many may
   * @param oldestWait how long the first of them has waited; zero for nobody
   */
  public record Demand(int inFlight, int queued, int queueCapacity, Duration oldestWait) {}

  /**
   * For how many there is room.
   *
   * @param capacity requests that may run at once; {@link Integer#MAX_VALUE} for any number
   * @param containerConcurrency requests that one pod may run at once; 0 for any number
   * @param destinations how many this activator sends requests to
   * @param activatorIndex which of the activators this one is; −1 while unknown
   * @param activators how many there are; 0 while unknown
   * @param aside destinations that could not be reached, and get nothing for a moment
   */
  public record Room(int capacity, int containerConcurrency, int destinations, int activatorIndex,
      int activators, List<Destination> aside) {
    public Room {
      aside = List.copyOf(aside);
    }
  }

  /**
   * One address.
   *
   * @param ready whether Kubernetes calls it ready
   * @param answers whether it answered our probe, and nothing since said otherwise
   * @param serves whether requests may be sent to it
   * @param suspected whether a request could not be delivered there, and no probe ended since
   * @param failures of its probe, in a row
   * @param probe its last one
   */
  public record Pod(Destination address, boolean ready, boolean answers, boolean serves,
      boolean suspected, int failures, Probe probe) {}

  /**
   * The last probe of an address.
   *
   * @param outcome in words
   * @param ago since its end; null before the first came to one
   * @param took from its start to its end; null before the first came to one
   */
  public record Probe(String outcome, @Nullable Duration ago, @Nullable Duration took) {}

  /**
   * How pods can be reached.
   *
   * @param podsAreProbed whether single pods may be addressed at all
   * @param probesBeforeReady whether a pod that answers serves before Kubernetes calls it ready
   * @param clusterIp the address of the private Service; null while it has none
   * @param byClusterIp whether requests go there
   */
  public record Routing(boolean podsAreProbed, boolean probesBeforeReady,
      @Nullable Pod clusterIp, boolean byClusterIp) {}

  /**
   * The start of its pods.
   *
   * @param asked since the first request found no room; null while there is room
   * @param usual how long it takes as a rule; zero if unknown
   * @param failure why its containers do not start; null while nothing is known to be wrong
   */
  public record Start(@Nullable Duration asked, Duration usual, @Nullable StartFailure failure) {}

  /**
   * Whether news come in and get out.
   *
   * @param synced whether everything there was at the start has been heard
   * @param staleness what is wrong with the watches of the API; empty if nothing is
   * @param autoscaler what is wrong with the link to the autoscaler; null while it is up
   */
  public record Signals(boolean synced, List<String> staleness, @Nullable String autoscaler) {
    public Signals {
      staleness = List.copyOf(staleness);
    }
  }
}
