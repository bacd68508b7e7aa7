package dev.activator.cluster;

import dev.activator.cluster.reflector.KubernetesApi;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The pods in the EndpointSlices of one Service, asked of the API itself, without a watch. */
public final class ServiceMembers {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final JsonMapper JSON = new JsonMapper();
  private static final Logger log = LoggerFactory.getLogger(ServiceMembers.class);

  private final KubernetesApi api;
  private final String namespace;
  private final String service;

  ServiceMembers(KubernetesApi api, String namespace, String service) {
    this.api = api;
    this.namespace = namespace;
    this.service = service;
  }

  /** Whether each is ready, by the pod's name; empty if that cannot be known now. */
  public CompletableFuture<Optional<Map<String, Boolean>>> read() {
    return api.fetch("apis/discovery.k8s.io/v1/namespaces/" + namespace
        + "/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D" + service, TIMEOUT)
        .orTimeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).thenApply(answer -> {
          if (answer.status() != 200) {
            log.warn("The EndpointSlices of our own Service {}/{} cannot be read: {} {}", namespace,
                service, answer.status(), answer.message());
            return Optional.<Map<String, Boolean>>empty();
          }
          return Optional.of(members(JSON.readTree(answer.body())));
        }).exceptionally(failure -> {
          log.warn("The EndpointSlices of our own Service {}/{} cannot be read: {}", namespace,
              service, String.valueOf(failure.getMessage()));
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
}
