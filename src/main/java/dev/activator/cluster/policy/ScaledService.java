package dev.activator.cluster.policy;

import dev.activator.revision.LoadTarget;
import dev.activator.revision.ColdStartRules;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaledServiceRoute;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.revision.KeepWarmSettings;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A ScaledService: a workload without Knative that is scaled by the requests for it.
 *
 * @param created as RFC 3339 writes it; of two that want the same, the older gets it
 * @param service whose pods get the requests, in the namespace of {@code id}
 * @param port of that Service, by name or number
 * @param hosts in lower case; may begin with {@code *.}
 * @param routes which requests it gets; empty for all to its hosts
 * @param routeProblems a sentence for each route that cannot be used, and is ignored
 * @param maxReplicas empty if only 0 and 1 are ours to set
 * @param window over which the load is averaged
 * @param load that each replica should have
 * @param wakeWith names of others that start with it, as {@code NAME} or {@code NAME.NAMESPACE}
 * @param rules null if it has none
 * @param warmTimes when it keeps pods without requests
 * @param catchService whether requests to its own Service reach the activators while it has no ready pod
 * @param status as it was written last
 */
public record ScaledService(RevisionId id, String uid, String created, long generation,
    ScaleTargetRef workload, String service, String port, List<String> hosts,
    List<ScaledServiceRoute> routes, List<String> routeProblems, int minReplicas,
    OptionalInt maxReplicas,
    LoadTarget load, int containerConcurrency, Duration timeout,
    Duration window, List<String> wakeWith, Map<String, String> labels,
    Map<String, String> annotations,
    @Nullable ColdStartRules rules, KeepWarmSettings warmTimes, boolean catchService,
    ScaledServiceStatus status) {

  public static final Comparator<ScaledService> BY_AGE = Comparator
      .comparing(ScaledService::created).thenComparing(ScaledService::id);

  public ScaledService {
    hosts = List.copyOf(hosts);
    routes = List.copyOf(routes);
    routeProblems = List.copyOf(routeProblems);
    wakeWith = List.copyOf(wakeWith);
    labels = Map.copyOf(labels);
    annotations = Map.copyOf(annotations);
  }

  /** Those of its rules, other than {@link #port}. */
  public List<String> otherPorts() {
    return routes.stream().map(ScaledServiceRoute::port)
        .filter(one -> !one.isEmpty() && !one.equals(port))
        .distinct().toList();
  }

  /** The revision that gets the requests of a route. */
  public RevisionId revision(ScaledServiceRoute route) {
    return route.port().equals(port) ? id : id.ofPort(route.port());
  }

  /** @param name as {@code NAME}, of the same namespace, or {@code NAME.NAMESPACE} */
  public RevisionId named(String name) {
    int dot = name.indexOf('.');
    return dot < 0
        ? new RevisionId(id.namespace(), name)
        : new RevisionId(name.substring(dot + 1), name.substring(0, dot));
  }

  /** Where requests go while it starts; null if they wait, or are answered. */
  public @Nullable RevisionId fallback() {
    var service = rules == null || rules.fallback() == null ? null : rules.fallback().service();
    return service == null ? null : new RevisionId(id.namespace(), service);
  }

  /** All that it names: those that start with it, and its fallback. */
  public List<RevisionId> others() {
    return Stream.concat(wakeWith.stream().map(this::named), Stream.ofNullable(fallback()))
        .toList();
  }
}
