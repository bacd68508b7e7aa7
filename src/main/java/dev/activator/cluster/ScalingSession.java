package dev.activator.cluster;

import dev.activator.cluster.reflector.KubernetesApi;
import dev.activator.loop.Loop;
import dev.activator.revision.ScaleClient;
import java.time.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A connection of its own for the election and for scaling, which no list or watch delays.
 *
 * <p><b>Threads.</b> Any, once it is open.
 */
public final class ScalingSession implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final Logger log = LoggerFactory.getLogger(ScalingSession.class);

  private final ClusterAccess access;
  private final Duration timeout;
  private final ScaleApi scales;
  private volatile @Nullable KubernetesApi api;
  /** Why the members could not be read the last time, as it was logged; empty if they could. */
  private volatile String problem = "";
  private final EventWriter events = new EventWriter(() -> api, Clock.systemUTC());

  public ScalingSession(ClusterAccess access) {
    this(access, TIMEOUT);
  }

  /** @param timeout of each request for a scale, a lease or the members */
  public ScalingSession(ClusterAccess access, Duration timeout) {
    this.access = access;
    this.timeout = timeout;
    this.scales = new ScaleApi(this::api, timeout);
  }

  /** @throws ClusterUnavailableException if the access is invalid */
  public void open() {
    api = Connection.open(access);
  }

  private KubernetesApi api() {
    return Objects.requireNonNull(api, "not open");
  }

  public ScaleClient scales() {
    return scales;
  }

  public EventWriter events() {
    return events;
  }

  /**
   * Writes statuses and Events of ScaledServices over this connection.
   *
   * @param leads whether this activator may write now; asked on the loop
   */
  public ScaledServiceWriter writer(Loop loop, InstantSource clock, BooleanSupplier leads) {
    return new ScaledServiceWriter(loop, () -> api, clock, leads);
  }

  public LeaseApi lease(String namespace, String name) {
    return new LeaseApi(this::api, timeout, namespace, name);
  }

  /**
   * The pods in the EndpointSlices of one Service, asked of the API itself, without a watch.
   *
   * @return whether each is ready, by the pod's name; empty if that cannot be known now
   */
  public CompletableFuture<Optional<Map<String, Boolean>>> members(String namespace,
      String service) {
    return api().fetch("apis/discovery.k8s.io/v1/namespaces/" + namespace
        + "/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D" + service, timeout)
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).thenApply(answer -> {
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

  /** One that terminates is a member too: it may still have requests. */
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
    var open = api;
    if (open != null) {
      open.close();
    }
  }
}
