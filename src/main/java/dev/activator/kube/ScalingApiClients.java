package dev.activator.kube;

import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTargetRef;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Clients of the Kubernetes API with separate connections for the election, for scaling, and for
 * statuses and Events. So none of these delays another, and no list or watch delays them. Each has
 * its own write limit, {@code -kube-api-qps}, except for the election, which has none.
 *
 * <p><b>Threads.</b> Any, after {@link #open}.
 */
public final class ScalingApiClients implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final Logger log = LoggerFactory.getLogger(ScalingApiClients.class);

  private final ClusterAccess access;
  private final Duration timeout;
  private final Supplier<KubernetesWriteRateLimiter> rates;
  private final KubernetesScaleClient scales;
  private volatile @Nullable Clients clients;
  /** The error of the last read of the members, as logged; empty if it succeeded. */
  private volatile String problem = "";
  private final EventWriter events = new EventWriter(this::records, Clock.systemUTC());

  /** @param records the client for statuses and Events */
  private record Clients(KubernetesApiClient election, KubernetesApiClient scaling,
      KubernetesApiClient records) {}

  /** @param rates makes the write limit of one client */
  public ScalingApiClients(ClusterAccess access, Supplier<KubernetesWriteRateLimiter> rates) {
    this(access, rates, TIMEOUT);
  }

  /** @param timeout the timeout of each request for a scale, a lease or the members */
  public ScalingApiClients(ClusterAccess access, Supplier<KubernetesWriteRateLimiter> rates,
      Duration timeout) {
    this.access = access;
    this.rates = rates;
    this.timeout = timeout;
    this.scales = new KubernetesScaleClient(this::scaling, timeout);
  }

  /** @throws ClusterUnavailableException if the access is invalid */
  public void open() {
    clients = new Clients(
        KubernetesClientFactory.open(access, KubernetesWriteRateLimiter.UNLIMITED),
        KubernetesClientFactory.open(access, rates.get()),
        KubernetesClientFactory.open(access, rates.get()));
  }

  private Clients clients() {
    return Objects.requireNonNull(clients, "not open");
  }

  /** The client for statuses and Events; null before it is open. */
  public @Nullable KubernetesApiClient records() {
    var open = clients;
    return open == null ? null : open.records;
  }

  /** The client for scales, and for whatever is scaled in another way. */
  public KubernetesApiClient scaling() {
    return clients().scaling;
  }

  public ScaleClient<ScaleTargetRef> scales() {
    return scales;
  }

  public EventWriter events() {
    return events;
  }

  public KubernetesLeaseClient lease(String namespace, String name) {
    return new KubernetesLeaseClient(() -> clients().election, timeout, namespace, name);
  }

  /**
   * Reads the pods of one Service from its EndpointSlices, from the API itself instead of a watch.
   *
   * @return whether each pod is ready, by its name; empty if the API cannot be read
   */
  public CompletableFuture<Optional<Map<String, Boolean>>> members(String namespace,
      String service) {
    return clients().scaling.fetch("apis/discovery.k8s.io/v1/namespaces/" + namespace
        + "/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D" + service, timeout)
        .thenApply(answer -> {
          if (answer.status() != 200) {
            throw new IllegalStateException(answer.status() + " " + answer.message());
          }
          var members = members(JsonMapper.shared().readTree(answer.body()));
          problem = "";
          return Optional.of(members);
        }).exceptionally(failure -> {
          var cause = failure.getCause() == null ? failure : failure.getCause();
          var why = Objects.requireNonNullElse(cause.getMessage(),
              "no answer from the Kubernetes API");
          if (!why.equals(problem)) {
            problem = why;
            log.warn("The EndpointSlices of our own Service {}/{} cannot be read: {}", namespace,
                service, why);
          }
          return Optional.empty();
        });
  }

  /**
   * The pods in a list of EndpointSlices. Terminating pods are included, since they may still have
   * requests.
   */
  static Map<String, Boolean> members(JsonNode list) {
    var members = new TreeMap<String, Boolean>();
    if (!list.path("items").isArray() && !list.path("items").isNull()) {
      throw new JacksonException("it is no list") {
      };
    }
    for (var slice : list.path("items").values()) {
      for (var endpoint : slice.path("endpoints").values()) {
        var pod = endpoint.at("/targetRef/name").asString("");
        boolean ready = endpoint.at("/conditions/ready").booleanValue(true);
        if (!pod.isEmpty()) {
          members.merge(pod, ready, Boolean::logicalOr);
        }
      }
    }
    return members;
  }

  @Override
  public void close() {
    var open = clients;
    if (open != null) {
      open.election.close();
      open.scaling.close();
      open.records.close();
    }
  }
}
