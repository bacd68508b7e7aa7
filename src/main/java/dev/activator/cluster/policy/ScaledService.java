package dev.activator.cluster.policy;

import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * A ScaledService: a workload without Knative that is scaled by the requests for it.
 *
 * @param created as RFC 3339 writes it; of two that want the same, the older gets it
 * @param service whose pods get the requests, in the namespace of {@code id}
 * @param port of that Service, by name or number
 * @param hosts in lower case; may begin with {@code *.}
 * @param maxReplicas empty if only 0 and 1 are ours to set
 * @param window over which the load is averaged
 * @param status as it was written last
 */
public record ScaledService(RevisionId id, String uid, String created, long generation,
    ScaleTargetRef workload, String service, String port, List<String> hosts, int minReplicas,
    OptionalInt maxReplicas, OptionalInt concurrency, int containerConcurrency, Duration timeout,
    Duration window, Map<String, String> labels, Map<String, String> annotations,
    ScaledServiceStatus status) {

  public static final Comparator<ScaledService> BY_AGE = Comparator
      .comparing(ScaledService::created).thenComparing(ScaledService::id);

  public ScaledService {
    hosts = List.copyOf(hosts);
    labels = Map.copyOf(labels);
    annotations = Map.copyOf(annotations);
  }
}
