package dev.activator.ext.asleep;

import dev.activator.kube.NamedObjectClient;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.revision.IdleState;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleTargetRef;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The statuses in the Kubernetes API. <b>Threads.</b> Any. */
final class IdleStatusClient implements IdleStatuses {
  private static final JsonMapper JSON = new JsonMapper();
  /** As for a scale: a later leader may write afterwards. */
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  /** Statuses are also written for other reasons, at most once a second. */
  private static final int ATTEMPTS = 5;

  private final NamedObjectClient objects;
  private final NamedObjectClient statuses;

  private static final class Kept implements NamedObjectClient.Reader {
    private @Nullable IdleState state;

    @Override
    public ScaleApiResult read(String what, JsonNode object) {
      var idle = object.at("/status/idle");
      state = IdleState.parse(idle.path("state").asString(""), idle.path("since").asString(""),
          idle.path("do").asString(""));
      return new Found(0, 0, object.at("/metadata/resourceVersion").asString(""));
    }

    Stored stored(ScaleApiResult answer) {
      return switch (answer) {
        case Found(_, _, var version) -> new Stored(state, version, null);
        case Refused refused -> new Stored(null, "", refused);
        case ScaleApiResult.Undecided other -> throw new IllegalStateException(other.toString());
      };
    }
  }

  IdleStatusClient(Supplier<KubernetesApiClient> api) {
    this.objects = new NamedObjectClient(api, TIMEOUT, "", _ -> null);
    this.statuses = new NamedObjectClient(api, TIMEOUT, "/status", _ -> null);
  }

  @Override
  public CompletableFuture<Stored> get(RevisionId id) {
    var kept = new Kept();
    return objects.get(id.namespace(), object(id), kept).thenApply(kept::stored);
  }

  @Override
  public CompletableFuture<Stored> replace(RevisionId id, Stored read, @Nullable IdleState next) {
    return replace(id, read, next, ATTEMPTS);
  }

  private CompletableFuture<Stored> replace(RevisionId id, Stored read, @Nullable IdleState next,
      int attempts) {
    var kept = new Kept();
    return statuses.patch(id.namespace(), object(id), patch(read.version(), next), kept)
        .thenApply(kept::stored).thenCompose(stored -> {
          var refusal = stored.refusal();
          return refusal == null || refusal.reason() != Reason.CONFLICT || attempts <= 1
              ? CompletableFuture.completedFuture(stored)
              : get(id).thenCompose(now -> now.refusal() == null
                  && Objects.equals(now.state(), read.state())
                      ? replace(id, now, next, attempts - 1)
                      : CompletableFuture.completedFuture(stored));
        });
  }

  private static ScaleTargetRef object(RevisionId id) {
    return new ScaleTargetRef("activator.dev/v1alpha1", "ScaledService", id.name());
  }

  private static JsonNode patch(String version, @Nullable IdleState next) {
    var patch = JSON.createObjectNode();
    patch.putObject("metadata").put("resourceVersion", version);
    var status = patch.putObject("status");
    if (next == null) {
      status.putNull("idle");
    } else {
      status.putObject("idle").put("state", next.phase().text())
          .put("since", next.since().toString()).put("do", next.method());
    }
    return patch;
  }
}
