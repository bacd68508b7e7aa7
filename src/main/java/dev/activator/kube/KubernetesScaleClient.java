package dev.activator.kube;

import dev.activator.kube.reflector.RestMapper;
import dev.activator.kube.reflector.RestMapper.Served;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
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
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The scale client that reads and writes the {@code scale} subresource of any kind, through the
 * Kubernetes API.
 *
 * <p><b>Errors.</b> Failures are results. The server also gives up a write at the time when it
 * times out here.
 */
final class KubernetesScaleClient implements ScaleClient<ScaleTargetRef> {
  private static final JsonMapper JSON = new JsonMapper();

  private final Supplier<KubernetesApiClient> api;
  private final Duration timeout;
  private final Map<Kind, Served.Here> served = new ConcurrentHashMap<>();

  private record Kind(String apiVersion, String kind) {}

  KubernetesScaleClient(Supplier<KubernetesApiClient> api, Duration timeout) {
    this.api = api;
    this.timeout = timeout;
  }

  @Override
  public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTargetRef workload) {
    return at(id, workload, "get", path -> api.get().fetch(path, timeout));
  }

  @Override
  public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTargetRef workload, Found read,
      int replicas) {
    var patch = JSON.createObjectNode();
    patch.putObject("metadata").put("resourceVersion", read.resourceVersion());
    patch.putObject("spec").put("replicas", replicas);
    return at(id, workload, "patch", path -> api.get().send("PATCH",
        path, "application/merge-patch+json", patch.toString(), timeout));
  }

  @Override
  public CompletableFuture<String> managerOfReplicas(RevisionId id, ScaleTargetRef workload) {
    return find(new Kind(workload.apiVersion(), workload.kind()))
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

  private CompletableFuture<ScaleApiResult> at(RevisionId id, ScaleTargetRef workload, String verb,
      Function<String, CompletableFuture<ApiAnswer>> request) {
    String what = verb + " " + workload + " in namespace " + id.namespace();
    return find(new Kind(workload.apiVersion(), workload.kind()))
        .<ScaleApiResult>thenCompose(found -> switch (found) {
          case Served.NotServed() -> answered(Reason.NOT_SCALABLE, "the API serves no "
              + workload.kind() + " in " + workload.apiVersion());
          case Served.Here here when !here.isScalable() || !here.isNamespaced() -> answered(
              Reason.NOT_SCALABLE, here.plural() + " have no scale that belongs to a namespace");
          case Served.Here here -> request
              .apply(here.groupPath() + "/namespaces/" + id.namespace() + "/" + here.plural() + "/"
                  + URLEncoder.encode(workload.name(), StandardCharsets.UTF_8) + "/scale")
              .thenApply(answer -> answer(what, answer));
        }).orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(failure -> new Refused(Reason.UNAVAILABLE,
            "cannot " + what + ": " + why(failure)));
  }

  /** The reason of a failed request. It says so if a write was not sent. */
  private static String why(Throwable failure) {
    var cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause instanceof TimeoutException && cause.getMessage() != null
        ? cause.getMessage()
        : "no answer from the Kubernetes API";
  }

  private static CompletableFuture<ScaleApiResult> answered(Reason reason, String message) {
    return CompletableFuture.completedFuture(new Refused(reason, message));
  }

  private CompletableFuture<Served> find(Kind kind) {
    var known = served.get(kind);
    return known != null
        ? CompletableFuture.completedFuture(known)
        : RestMapper.find(api.get(), kind.apiVersion, kind.kind).thenApply(found -> {
          if (found instanceof Served.Here here && here.isScalable()) {
            served.put(kind, here);
          }
          return found;
        });
  }

  private static ScaleApiResult answer(String what, ApiAnswer answer) {
    if (answer.status() == 200) {
      return scale(what, answer.body());
    }
    var reason = switch (answer.status()) {
      case 404 -> Reason.NOT_FOUND;
      case 409 -> Reason.CONFLICT;
      case 401, 403 -> Reason.FORBIDDEN;
      case 408, 429 -> Reason.UNAVAILABLE;
      default -> answer.status() >= 500 ? Reason.UNAVAILABLE : Reason.INVALID;
    };
    return new Refused(reason,
        "cannot " + what + ": " + answer.status() + " " + answer.message(), answer.retryAfter());
  }

  private static ScaleApiResult scale(String what, byte[] body) {
    try {
      var scale = JSON.readTree(body);
      // Go leaves out the field if it is zero.
      return new Found(scale.at("/spec/replicas").intValue(0),
          scale.at("/status/replicas").intValue(0),
          scale.at("/metadata/resourceVersion").asString(""));
    } catch (JacksonException e) {
      return new Refused(Reason.UNAVAILABLE, "cannot " + what + ": the answer is no Scale");
    }
  }
}
