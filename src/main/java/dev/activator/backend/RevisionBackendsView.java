package dev.activator.backend;

import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.backend.policy.PodHealth;
import dev.activator.backend.policy.RevisionProbingState;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of the pods and the ClusterIP that one revision's watcher follows.
 *
 * @param published the destinations that get requests
 * @param pods all listed pods, in order
 */
public record RevisionBackendsView(HealthyDestinations published, List<Address> pods,
    @Nullable Address clusterIp, MeshAddressing addressing, boolean probesBeforeReady) {

  /**
   * @param answers whether it has answered a probe, and nothing has contradicted that since then
   * @param ejected whether a request could not be delivered there since the last probe ended
   * @param failures the number of consecutive failures of its probe
   */
  public record Address(Destination destination, boolean ready, boolean answers, boolean serves,
      boolean ejected, int failures, Probe probe) {}

  /** @param ago the time since it ended */
  public record Probe(String outcome, @Nullable Duration ago, @Nullable Duration took,
      boolean underWay) {
    private static Probe of(PodHealth known, Duration now) {
      var last = known.last();
      return last == null
          ? new Probe("not answered yet", null, null, known.isInFlight())
          : new Probe(last.verdict().detail(), now.minus(last.at()), last.took(),
              known.isInFlight());
    }
  }

  /** @param now since the origin of the watcher's times */
  static RevisionBackendsView of(RevisionProbingState watching, Duration now) {
    var policy = watching.policy();
    var pods = watching.pods().listed().entrySet().stream().map(
        pod -> address(pod.getKey(), pod.getValue(), watching.serves(pod.getValue()), now))
        .toList();
    var clusterIp = watching.clusterIp().address();
    return new RevisionBackendsView(watching.published(), pods,
        clusterIp == null
            ? null
            : address(clusterIp, watching.clusterIp().health(),
                clusterIp.equals(watching.published().clusterIp()), now),
        policy.addressing(), policy.probesBeforeReady());
  }

  private static Address address(Destination destination, PodHealth known, boolean serves,
      Duration now) {
    return new Address(destination, known.ready(), known.answers(), serves, known.isEjected(),
        known.failures(), Probe.of(known, now));
  }
}
