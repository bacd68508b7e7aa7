package dev.activator.console;

import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a revision's requests can go, as JSON.
 *
 * @param revision {@code namespace/name}
 * @param clusterIp where all go while pods cannot be addressed; null while they can
 * @param pods addresses of those that answer
 */
record DestinationsReport(String revision, @Nullable String clusterIp, List<String> pods) {
  static DestinationsReport of(HealthyDestinations now) {
    var clusterIp = now.clusterIp();
    return new DestinationsReport(now.revision().toString(),
        clusterIp == null ? null : clusterIp.toString(),
        now.pods().all().stream().map(Destination::toString).toList());
  }
}
