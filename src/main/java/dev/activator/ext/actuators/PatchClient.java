package dev.activator.ext.actuators;

import dev.activator.ext.actuators.policy.PatchTarget;
import dev.activator.ext.actuators.policy.PatchTarget.State;
import dev.activator.ext.actuators.policy.PatchedFields;
import dev.activator.kube.NamedObjectClient;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.RestMapper.Served;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleApiResult.Undecided;
import dev.activator.revision.ScaleClient;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Starts and stops objects by merge patches of their fields. A patch names the version that was
 * read, so that it changes nothing if another client, or a later leader, wrote first.
 */
final class PatchClient implements ScaleClient<PatchTarget> {
  private static final JsonMapper JSON = new JsonMapper();

  private final Set<String> resources;
  private final NamedObjectClient objects;

  /** @param resources that may be patched, such as {@code sandboxes.agents.x-k8s.io} */
  PatchClient(Supplier<KubernetesApiClient> api, Duration timeout, Set<String> resources) {
    this.resources = resources;
    this.objects = new NamedObjectClient(api, timeout, "", this::refusal);
  }

  /** Why objects of a kind may be neither read nor patched; null if the setting names the kind. */
  static @Nullable String refusal(Set<String> resources, Served.Here kind) {
    var resource = resource(kind);
    return resources.contains(resource)
        ? null
        : resource + " may not be patched by this installation: the chart's standalone.wake.patch"
            + " (activator.actuators.patch) does not name them";
  }

  private static String resource(Served.Here kind) {
    var group = kind.groupPath().split("/");
    return group.length == 3 ? kind.plural() + "." + group[1] : kind.plural();
  }

  private @Nullable Refused refusal(Served.Here kind) {
    var refusal = refusal(resources, kind);
    if (refusal != null) {
      return new Refused(Reason.FORBIDDEN, refusal);
    }
    return kind.isNamespaced()
        ? null
        : new Refused(Reason.NOT_SCALABLE, resource(kind) + " belong to no namespace");
  }

  @Override
  public CompletableFuture<ScaleApiResult> read(RevisionId id, PatchTarget target) {
    return objects.get(id.namespace(), target.object(), (_, object) -> result(target, object));
  }

  private static ScaleApiResult result(PatchTarget target, JsonNode object) {
    var version = object.at("/metadata/resourceVersion").asString("");
    return switch (target.state(fields(object))) {
      case RUNNING -> new Found(1, 1, version);
      case STOPPED -> new Found(0, 0, version);
      case OTHER -> new Undecided(version);
    };
  }

  private static Map<?, ?> fields(JsonNode object) {
    return JSON.treeToValue(object, Map.class);
  }

  @Override
  public CompletableFuture<ScaleApiResult> write(RevisionId id, PatchTarget target, Found read,
      int replicas) {
    boolean starts = replicas > 0;
    var fields = starts ? target.running() : target.stopped();
    ObjectNode patch = JSON.valueToTree(fields);
    patch.withObject("/metadata").put("resourceVersion", read.resourceVersion());
    return objects.patch(id.namespace(), target.object(), patch, (what, object) -> {
      boolean isStored = target.state(fields(object)) == (starts ? State.RUNNING : State.STOPPED);
      return isStored
          ? result(target, object)
          : new Refused(Reason.INVALID, "cannot " + what + ": the Kubernetes API stored other"
              + " values of " + String.join(", ", PatchedFields.differences(fields, fields(object)))
              + ": the kind has no such field, or an admission webhook changes it");
    });
  }
}
