package dev.activator.kube;

import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.RestMapper.Served;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTargetRef;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The scale client that reads and writes the {@code scale} subresource of any kind, through the
 * Kubernetes API.
 */
final class KubernetesScaleClient implements ScaleClient<ScaleTargetRef> {
  private static final JsonMapper JSON = new JsonMapper();

  private final Supplier<KubernetesApiClient> api;
  private final Duration timeout;
  private final NamedObjectClient scales;

  KubernetesScaleClient(Supplier<KubernetesApiClient> api, Duration timeout) {
    this.api = api;
    this.timeout = timeout;
    this.scales = new NamedObjectClient(api, timeout, "/scale", KubernetesScaleClient::refusal);
  }

  private static @Nullable Refused refusal(Served.Here kind) {
    return kind.isScalable() && kind.isNamespaced()
        ? null
        : new Refused(Reason.NOT_SCALABLE,
            kind.plural() + " have no scale that belongs to a namespace");
  }

  @Override
  public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTargetRef workload) {
    return scales.get(id.namespace(), workload, (_, scale) -> found(scale));
  }

  @Override
  public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTargetRef workload, Found read,
      int replicas) {
    var patch = JSON.createObjectNode();
    patch.putObject("metadata").put("resourceVersion", read.resourceVersion());
    patch.putObject("spec").put("replicas", replicas);
    return scales.patch(id.namespace(), workload, patch, (_, scale) -> found(scale));
  }

  @Override
  public CompletableFuture<String> managerOfReplicas(RevisionId id, ScaleTargetRef workload) {
    return scales.find(workload)
        .thenCompose(found -> found instanceof Served.Here here
            // A list, because workloads are watched, and no right to get one is needed.
            ? api.get().fetch(here.groupPath() + "/namespaces/" + id.namespace() + "/"
                + here.plural() + "?fieldSelector=metadata.name%3D"
                + URLEncoder.encode(workload.name(), StandardCharsets.UTF_8), timeout)
                .thenApply(answer -> answer.status() == 200 ? manager(answer.body()) : "")
            : CompletableFuture.completedFuture(""))
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).exceptionally(_ -> "");
  }

  /** The manager that has set the replicas last, of a list with one object. */
  private static String manager(byte[] list) {
    var managers = JSON.readTree(list).at("/items/0/metadata/managedFields");
    return managers.valueStream().filter(one -> one.at("/fieldsV1/f:spec/f:replicas").isObject())
        .max(Comparator.comparing(one -> one.path("time").asString("")))
        .map(one -> one.path("manager").asString("")).orElse("");
  }

  private static Found found(JsonNode scale) {
    // Go leaves out the field if it is zero.
    return new Found(scale.at("/spec/replicas").intValue(0),
        scale.at("/status/replicas").intValue(0),
        scale.at("/metadata/resourceVersion").asString(""));
  }
}
