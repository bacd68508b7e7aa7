package dev.activator.backend;

import dev.activator.backend.policy.Candidate;
import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.backend.policy.Watching;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a revision's pods at one moment, for people who ask why a request waits.
 *
 * @param published where requests can go
 * @param pods all that Kubernetes lists, in order
 * @param clusterIp the private Service's address and what its last probe said; null while it has
 *     none
 */
public record BackendsView(HealthyDestinations published, List<Address> pods,
    @Nullable Address clusterIp) {

  /**
   * One address.
   *
   * @param ready whether Kubernetes calls it ready
   * @param serves whether requests may be sent to it
   * @param failures of its probe, in a row
   * @param outcome of its last probe, in words
   */
  public record Address(Destination destination, boolean ready, boolean serves, int failures,
      String outcome) {}

  static BackendsView of(Watching now) {
    var pods = now.pods().listed().entrySet().stream()
        .map(pod -> address(pod.getKey(), pod.getValue(), now.traits().serves(pod.getValue())))
        .toList();
    var clusterIp = now.fallback().clusterIp();
    return new BackendsView(now.published(), pods,
        clusterIp == null
            ? null
            : address(clusterIp, now.fallback().known(),
                clusterIp.equals(now.published().clusterIp())));
  }

  private static Address address(Destination destination, Candidate known, boolean serves) {
    return new Address(destination, known.ready(), serves, known.failures(),
        outcome(known.last()));
  }

  private static String outcome(@Nullable ProbeOutcome last) {
    return last == null ? "not answered yet" : last.detail();
  }
}
