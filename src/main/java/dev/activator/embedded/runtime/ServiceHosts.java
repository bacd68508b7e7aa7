package dev.activator.embedded.runtime;

import dev.activator.embedded.runtime.policy.TrafficAssignment;
import dev.activator.embedded.runtime.policy.TrafficAssignment.Assigned;
import dev.activator.embedded.runtime.policy.TrafficSplit;
import dev.activator.revision.RevisionId;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The hosts of Knative Services and of their tags, and which revisions share the requests to each.
 * The host of a Service comes before one of a tag with the same name.
 *
 * <p><b>Threads.</b> One loop writes, any thread reads.
 */
final class ServiceHosts {
  private final Map<RevisionId, Assigned> services = new TreeMap<>();
  /** By namespace, and the name of a Service or {@code <tag>-<service>}. */
  private volatile Map<RevisionId, TrafficSplit> hosts = Map.of();

  void assign(RevisionId service, Assigned assigned) {
    if (!assigned.equals(services.put(service, assigned))) {
      publish();
    }
  }

  void remove(RevisionId service) {
    if (services.remove(service) != null) {
      publish();
    }
  }

  @Nullable Assigned of(RevisionId service) {
    return services.get(service);
  }

  @Nullable TrafficSplit split(RevisionId host) {
    return hosts.get(host);
  }

  Set<RevisionId> hosts() {
    return hosts.keySet();
  }

  private void publish() {
    var all = new HashMap<RevisionId, TrafficSplit>();
    services.forEach((service, assigned) -> all.put(service,
        TrafficSplit.of(service.namespace(), assigned.percentages())));
    services.forEach((service, assigned) -> assigned.shares().stream()
        .filter(share -> !share.tag().isEmpty())
        .forEach(share -> all.putIfAbsent(
            new RevisionId(service.namespace(),
                TrafficAssignment.Target.host(share.tag(), service.name())),
            TrafficSplit.all(new RevisionId(service.namespace(), share.revision())))));
    hosts = Map.copyOf(all);
  }
}
