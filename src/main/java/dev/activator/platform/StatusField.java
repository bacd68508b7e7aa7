package dev.activator.platform;

import dev.activator.kube.NamedObjectClient;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleTargetRef;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * One field of the status of ScaledServices, in which an extension stores what a later leader has to
 * know. A write names what was read, so that of two leaders only one takes a step.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Errors.</b> Are in the result.
 *
 * @param <T> a value
 */
public interface StatusField<T> {
  /**
   * The field as it was read or written.
   *
   * @param uid of the ScaledService
   * @param value null if there is no such field
   * @param version of the whole object
   * @param refusal null if it was read or written
   */
  record Stored<T>(String uid, @Nullable T value, String version, @Nullable Refused refusal) {
    public static <T> Stored<T> refused(Refused why) {
      return new Stored<>("", null, "", why);
    }

    private boolean isSame(Stored<T> other) {
      return refusal == null && uid.equals(other.uid) && Objects.equals(value, other.value);
    }
  }

  CompletableFuture<Stored<T>> get(RevisionId id);

  /** Replaces the value, unless it has changed since it was read; null removes it. */
  CompletableFuture<Stored<T>> replace(RevisionId id, Stored<T> read, @Nullable T next);

  /**
   * The field in the Kubernetes API.
   *
   * @param parse null for a field that is absent or has an unknown form
   */
  static <T> StatusField<T> of(Supplier<KubernetesApiClient> api, String name,
      Function<JsonNode, @Nullable T> parse, Function<T, JsonNode> format) {
    return new InKubernetes<>(api, name, parse, format);
  }

  /** The field in the Kubernetes API. */
  final class InKubernetes<T> implements StatusField<T> {
    private static final JsonMapper JSON = new JsonMapper();
    /** As for a scale: a later leader may write afterwards. */
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    /** Statuses are also written for other reasons, at most once a second. */
    private static final int ATTEMPTS = 5;

    private final NamedObjectClient objects;
    private final NamedObjectClient statuses;
    private final String name;
    private final Function<JsonNode, @Nullable T> parse;
    private final Function<T, JsonNode> format;

    private InKubernetes(Supplier<KubernetesApiClient> api, String name,
        Function<JsonNode, @Nullable T> parse, Function<T, JsonNode> format) {
      this.objects = new NamedObjectClient(api, TIMEOUT, "", _ -> null);
      this.statuses = new NamedObjectClient(api, TIMEOUT, "/status", _ -> null);
      this.name = name;
      this.parse = parse;
      this.format = format;
    }

    @Override
    public CompletableFuture<Stored<T>> get(RevisionId id) {
      var kept = new Kept();
      return objects.get(id.namespace(), object(id), kept).thenApply(kept::stored);
    }

    @Override
    public CompletableFuture<Stored<T>> replace(RevisionId id, Stored<T> read,
        @Nullable T next) {
      return replace(id, read, next, ATTEMPTS);
    }

    private CompletableFuture<Stored<T>> replace(RevisionId id, Stored<T> read,
        @Nullable T next, int attempts) {
      var kept = new Kept();
      return statuses.patch(id.namespace(), object(id), patch(read.version, next), kept)
          .thenApply(kept::stored).thenApply(stored -> checked(stored, next))
          // A later leader may have set and removed what was absent.
          .thenCompose(stored -> isConflict(stored) && attempts > 1 && read.value != null
              ? get(id).thenCompose(now -> now.isSame(read)
                  ? replace(id, now, next, attempts - 1)
                  : CompletableFuture.completedFuture(stored))
              : CompletableFuture.completedFuture(stored));
    }

    private Stored<T> checked(Stored<T> stored, @Nullable T next) {
      return stored.refusal != null || Objects.equals(stored.value, next)
          ? stored
          : Stored.refused(new Refused(Reason.INVALID, "the CustomResourceDefinition of"
              + " ScaledServices has no status." + name + ", and is older than the activator"));
    }

    private boolean isConflict(Stored<T> stored) {
      return stored.refusal != null && stored.refusal.reason() == Reason.CONFLICT;
    }

    private static ScaleTargetRef object(RevisionId id) {
      return new ScaleTargetRef("activator.dev/v1alpha1", "ScaledService", id.name());
    }

    private JsonNode patch(String version, @Nullable T next) {
      var patch = JSON.createObjectNode();
      patch.putObject("metadata").put("resourceVersion", version);
      patch.putObject("status").set(name, next == null ? JSON.nullNode() : format.apply(next));
      return patch;
    }

    /** Keeps the field of an answer. */
    private final class Kept implements NamedObjectClient.Reader {
      private final AtomicReference<@Nullable T> value = new AtomicReference<>();
      private volatile String uid = "";

      @Override
      public ScaleApiResult read(String what, JsonNode object) {
        value.set(parse.apply(object.at("/status/" + name)));
        uid = object.at("/metadata/uid").asString("");
        return new Found(0, 0, object.at("/metadata/resourceVersion").asString(""));
      }

      Stored<T> stored(ScaleApiResult answer) {
        return switch (answer) {
          case Found(_, _, var version) -> new Stored<>(uid, value.get(), version, null);
          case Refused refused -> Stored.refused(refused);
          case ScaleApiResult.Undecided other -> throw new IllegalStateException(other.toString());
        };
      }
    }
  }
}
