package dev.activator.standalone.policy;

import dev.activator.revision.ColdStartRules;
import dev.activator.revision.IdleSpec;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTarget;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A ScaledService, as the activator reads it: a workload without Knative that is scaled by its
 * requests.
 *
 * @param created the time of creation in RFC 3339; if two objects claim the same host or workload,
 *     the older one gets it
 * @param workload a {@code ScaleTargetRef}, or a {@code WakeSpec}
 * @param serviceRef the Service whose pods get the requests, in the namespace of {@code id}, and its
 *     port
 * @param hosts host names in lower case, which may begin with {@code *.}
 * @param routes the rules that select its requests; empty if it gets all requests to its hosts
 * @param routeProblems one sentence for each rule that is invalid and therefore ignored; if all are
 *     invalid, it gets no requests by its hosts
 * @param maxReplicas empty if the activator sets only 0 and 1
 * @param window the time over which the load is averaged
 * @param load the target load of each replica
 * @param wakeWith the names of ScaledServices that are started together with it, as {@code NAME} or
 *     {@code NAME.NAMESPACE}
 * @param rules the rules for cold starts; null if there are none
 * @param warmTimes when it keeps pods although it has no requests
 * @param catchService whether requests to its own Service reach the activators while it has no
 *     ready pod
 * @param tcp the ports that take connections, not HTTP requests
 * @param conflicts which workloads may not run while its workload does
 * @param idle whether its last pods are put to sleep instead of removed
 * @param status the object's current {@code status}, as read from the API
 */
public record ScaledService(RevisionId id, String uid, String created, long generation,
    ScaleTarget workload, ServiceRef serviceRef, List<String> hosts,
    List<ScaledServiceRoute> routes, List<String> routeProblems, int minReplicas,
    OptionalInt maxReplicas,
    LoadTarget load, int containerConcurrency, Duration timeout,
    Duration window, List<String> wakeWith, Map<String, String> labels,
    Map<String, String> annotations,
    @Nullable ColdStartRules rules, KeepWarmSettings warmTimes, boolean catchService,
    ConnectionPorts tcp, ConflictSpec conflicts,
    IdleSpec idle, ScaledServiceStatus status) {

  /** The oldest first. */
  public static Comparator<ScaledService> byAge() {
    return Comparator.comparing(ScaledService::created).thenComparing(ScaledService::id);
  }

  /** A copy whose pods are removed when they are idle, and are not asleep. */
  public ScaledService withoutIdle() {
    return new ScaledService(id, uid, created, generation, workload, serviceRef, hosts, routes,
        routeProblems, minReplicas, maxReplicas, load, containerConcurrency, timeout, window,
        wakeWith, labels, annotations, rules, warmTimes, catchService, tcp, conflicts,
        IdleSpec.NONE, status);
  }

  public ScaledService {
    hosts = List.copyOf(hosts);
    routes = List.copyOf(routes);
    routeProblems = List.copyOf(routeProblems);
    wakeWith = List.copyOf(wakeWith);
    labels = Map.copyOf(labels);
    annotations = Map.copyOf(annotations);
  }

  /**
   * @param port the name or number of a port of the Service; the first of {@code tcp} if it gets no
   *     HTTP requests
   * @param tls which certificates of its pods are trusted; null if it does not say
   */
  public record ServiceRef(String name, String port, @Nullable PodTlsSettings tls) {}

  public @Nullable PodTlsSettings tls() {
    return serviceRef.tls;
  }

  public String service() {
    return serviceRef.name;
  }

  public String port() {
    return serviceRef.port;
  }

  /** The ports that its rules name, without {@link #port()}. */
  public List<String> otherPorts() {
    return routes.stream().map(ScaledServiceRoute::port)
        .filter(one -> !one.isEmpty() && !one.equals(port()))
        .distinct().toList();
  }

  /** The revision to which a route sends requests. */
  public RevisionId revision(ScaledServiceRoute route) {
    return route.port().equals(port()) ? id : id.ofPort(route.port());
  }

  /**
   * The id of an object that this one names.
   *
   * @param name {@code NAME}, of the same namespace, or {@code NAME.NAMESPACE}
   */
  public RevisionId named(String name) {
    int dot = name.indexOf('.');
    return dot < 0
        ? new RevisionId(id.namespace(), name)
        : new RevisionId(name.substring(dot + 1), name.substring(0, dot));
  }

  /** The ConfigMaps and Secrets that {@link #tls()} names. */
  public List<CaObject.Name> caObjects() {
    var tls = serviceRef.tls;
    return tls == null
        ? List.of()
        : tls.authorities().stream().map(one -> one.in(id.namespace())).distinct().toList();
  }

  /**
   * The object that gets requests while this one starts; null if they wait, or get a configured
   * response.
   */
  public @Nullable RevisionId fallback() {
    var service = rules == null || rules.fallback() == null ? null : rules.fallback().service();
    return service == null ? null : new RevisionId(id.namespace(), service);
  }

  /** The other objects that it names: those that are started with it, conflicts, and its fallback. */
  public List<RevisionId> others() {
    return Stream.of(wakeWith.stream().map(this::named), conflicts.with().stream(),
        Stream.ofNullable(fallback())).flatMap(each -> each).toList();
  }
}
