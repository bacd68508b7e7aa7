package dev.activator.kube;

import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.kube.reflector.RestMapper;
import dev.activator.kube.reflector.RestMapper.Served;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleTargetRef;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads and patches single objects of any kind, or a subresource of them. The path of a kind is
 * found by discovery.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Errors.</b> Failures are results. The server also gives up a write at the time when it
 * times out here.
 */
public final class NamedObjectClient {
  private static final JsonMapper JSON = new JsonMapper();

  private final Supplier<KubernetesApiClient> api;
  private final Duration timeout;
  private final String subresource;
  private final Function<Served.Here, @Nullable Refused> refusal;
  private final Map<Kind, Served.Here> served = new ConcurrentHashMap<>();

  private record Kind(String apiVersion, String kind) {}

  /** Interprets the object of an answer. */
  public interface Reader {
    /** @param what the request, such as {@code get Deployment web in namespace shop} */
    ScaleApiResult read(String what, JsonNode object);
  }

  /**
   * @param subresource with a slash at its beginning; empty for the objects themselves
   * @param refusal why objects of a kind may not be used; null if they may
   */
  public NamedObjectClient(Supplier<KubernetesApiClient> api, Duration timeout, String subresource,
      Function<Served.Here, @Nullable Refused> refusal) {
    this.api = api;
    this.timeout = timeout;
    this.subresource = subresource;
    this.refusal = refusal;
  }

  public CompletableFuture<ScaleApiResult> get(String namespace, ScaleTargetRef object,
      Reader reader) {
    return at(namespace, object, "get", reader, path -> api.get().fetch(path, timeout));
  }

  /** @param patch a JSON merge patch (RFC 7386) */
  public CompletableFuture<ScaleApiResult> patch(String namespace, ScaleTargetRef object,
      JsonNode patch, Reader reader) {
    return at(namespace, object, "patch", reader, path -> api.get().send("PATCH", path,
        "application/merge-patch+json", patch.toString(), timeout));
  }

  private CompletableFuture<ScaleApiResult> at(String namespace, ScaleTargetRef object,
      String verb, Reader reader, Function<String, CompletableFuture<ApiAnswer>> request) {
    String what = verb + " " + object + " in namespace " + namespace;
    if (!isName(object.name())) {
      return CompletableFuture.completedFuture(new Refused(Reason.INVALID,
          "cannot " + what + ": a name is neither . nor .., and has no / or %"));
    }
    return find(object)
        .<ScaleApiResult>thenCompose(found -> switch (found) {
          case Served.NotServed() -> CompletableFuture.completedFuture(
              new Refused(Reason.NOT_SCALABLE, "the API serves no " + object.kind() + " in "
                  + object.apiVersion()));
          case Served.Here here -> {
            var refused = refusal.apply(here);
            yield refused == null
                ? request.apply(path(here, namespace, object) + subresource)
                    .thenApply(answer -> answer(what, answer, reader))
                : CompletableFuture.completedFuture(refused);
          }
        }).orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(failure -> new Refused(Reason.UNAVAILABLE,
            "cannot " + what + ": " + why(failure)));
  }

  /**
   * Whether a name stays one part of a path. The API server decodes paths before it divides them, so
   * that a name with a slash would reach a subresource.
   *
   * <p><b>Source.</b> Kubernetes' {@code IsValidPathSegmentName}.
   */
  private static boolean isName(String name) {
    return !name.equals(".") && !name.equals("..") && name.indexOf('/') < 0
        && name.indexOf('%') < 0;
  }

  private static String path(Served.Here here, String namespace, ScaleTargetRef object) {
    return here.groupPath() + "/namespaces/" + namespace + "/" + here.plural() + "/"
        + URLEncoder.encode(object.name(), StandardCharsets.UTF_8);
  }

  /** The reason of a failed request. It says so if a write was not sent. */
  private static String why(Throwable failure) {
    var cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause instanceof TimeoutException && cause.getMessage() != null
        ? cause.getMessage()
        : "no answer from the Kubernetes API";
  }

  CompletableFuture<Served> find(ScaleTargetRef object) {
    var kind = new Kind(object.apiVersion(), object.kind());
    var known = served.get(kind);
    return known != null
        ? CompletableFuture.completedFuture(known)
        : RestMapper.find(api.get(), kind.apiVersion, kind.kind).thenApply(found -> {
          if (found instanceof Served.Here here && refusal.apply(here) == null) {
            served.put(kind, here);
          }
          return found;
        });
  }

  private static ScaleApiResult answer(String what, ApiAnswer answer, Reader reader) {
    if (answer.status() == 200) {
      try {
        return reader.read(what, JSON.readTree(answer.body()));
      } catch (JacksonException e) {
        return new Refused(Reason.UNAVAILABLE, "cannot " + what + ": the answer is no object");
      }
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
}
