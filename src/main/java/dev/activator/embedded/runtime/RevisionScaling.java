package dev.activator.embedded.runtime;

import dev.activator.autoscaler.Autoscaler;
import dev.activator.autoscaler.ScaleClient;
import dev.activator.autoscaler.policy.ScalingAnnotations;
import dev.activator.autoscaler.policy.ScalingAnnotations.Defaults;
import dev.activator.autoscaler.policy.ScalingSettings;
import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.ApiStore.StoreSubscription;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleAnswer;
import dev.activator.revision.ScaleAnswer.Reason;
import dev.activator.revision.ScaleTargetRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Tells the autoscaler of revisions and their pods, and scales their Deployments as it says.
 *
 * <p>
 * <b>Threads.</b> Events are handled on one loop; Deployments are read and written by any thread.
 */
public final class RevisionScaling implements ScaleClient {
  private final ApiStore store;
  private final Loop loop;
  private final Defaults defaults;
  private final List<StoreSubscription> subscriptions = new ArrayList<>();
  private Set<RevisionId> known = Set.of();

  /** @param defaults of revisions whose annotations say nothing */
  public RevisionScaling(ApiStore store, Loop loop, Defaults defaults) {
    this.store = store;
    this.loop = loop;
    this.defaults = defaults;
  }

  public void start(Autoscaler autoscaler) {
    subscriptions.add(store.subscribe(Kinds.REVISION, loop, _ -> revisionsChanged(autoscaler)));
    subscriptions.add(store.subscribe(Kinds.DEPLOYMENT, loop,
        event -> deploymentChanged(event, autoscaler)));
  }

  public void stop() {
    subscriptions.forEach(StoreSubscription::close);
  }

  private void revisionsChanged(Autoscaler autoscaler) {
    var now = settings();
    known.stream().filter(id -> !now.containsKey(id)).forEach(autoscaler::targetGone);
    known = Set.copyOf(now.keySet());
    now.forEach((id, settings) -> autoscaler.target(id, new ScaleTargetRef("apps/v1", "Deployment",
        RevisionObjects.deploymentName(id.name())), settings));
  }

  private static void deploymentChanged(ApiEvent event, Autoscaler autoscaler) {
    var deployment = event.object();
    String revision = Meta.labels(deployment).getOrDefault(KnativeLabels.REVISION, "");
    if (!revision.isEmpty()) {
      boolean exists = event.type() != ApiEvent.Type.DELETED;
      autoscaler.pods(new RevisionId(Meta.namespace(deployment), revision),
          exists ? deployment.path("status").path("readyReplicas").intValue(0) : 0);
    }
  }

  /** Those of all revisions. Only the newest of a Service keeps its minimum. */
  Map<RevisionId, ScalingSettings> settings() {
    var revisions = store.list(Kinds.REVISION);
    var newest = new HashMap<String, ObjectNode>();
    for (var revision : revisions) {
      newest.merge(service(revision), revision,
          (one, other) -> number(one) > number(other) ? one : other);
    }
    var settings = new HashMap<RevisionId, ScalingSettings>();
    for (var revision : revisions) {
      var own = ScalingAnnotations.settings(annotations(Meta.of(revision)),
          revision.at("/spec/containerConcurrency").intValue(0), defaults);
      boolean latest = revision == newest.get(service(revision));
      settings.put(new RevisionId(Meta.namespace(revision), Meta.name(revision)),
          latest ? own : own.unreachable());
    }
    return settings;
  }

  /** The annotations of an object that are strings. */
  static Map<String, String> annotations(JsonNode metadata) {
    var annotations = new HashMap<String, String>();
    for (var one : metadata.path("annotations").properties()) {
      if (one.getValue().isString()) {
        annotations.put(one.getKey(), one.getValue().stringValue());
      }
    }
    return annotations;
  }

  private static int number(ObjectNode revision) {
    String number = Meta.labels(revision).getOrDefault(KnativeLabels.GENERATION, "");
    return number.matches("\\d{1,9}") ? Integer.parseInt(number) : 0;
  }

  private static String service(ObjectNode revision) {
    return Meta.key(Meta.namespace(revision),
        Meta.labels(revision).getOrDefault(KnativeLabels.SERVICE, Meta.name(revision)));
  }

  @Override
  public CompletableFuture<ScaleAnswer> read(RevisionId id, ScaleTargetRef workload) {
    return answer(() -> {
      var deployment = store.find(Kinds.DEPLOYMENT, id.namespace(), workload.name());
      if (deployment == null) {
        throw StatusException.notFound(Kinds.DEPLOYMENT, workload.name());
      }
      return found(deployment);
    });
  }

  @Override
  public CompletableFuture<ScaleAnswer> write(RevisionId id, ScaleTargetRef workload,
      ScaleAnswer.Found read, int replicas) {
    return answer(() -> found(
        store.edit(Kinds.DEPLOYMENT, id.namespace(), workload.name(), deployment -> {
          if (!Meta.of(deployment).path("resourceVersion").asString("")
              .equals(read.resourceVersion())) {
            throw StatusException.conflict(Kinds.DEPLOYMENT, workload.name());
          }
          ((ObjectNode) deployment.path("spec")).put("replicas", replicas);
          return deployment;
        })));
  }

  private static CompletableFuture<ScaleAnswer> answer(Supplier<ScaleAnswer> work) {
    try {
      return CompletableFuture.completedFuture(work.get());
    } catch (StatusException refused) {
      var reason = switch (refused.reason()) {
        case "NotFound" -> Reason.NOT_FOUND;
        case "Conflict" -> Reason.CONFLICT;
        default -> Reason.INVALID;
      };
      return CompletableFuture
          .completedFuture(new ScaleAnswer.Refused(reason, String.valueOf(refused.getMessage())));
    }
  }

  private static ScaleAnswer found(ObjectNode deployment) {
    return new ScaleAnswer.Found(deployment.path("spec").path("replicas").intValue(1),
        deployment.path("status").path("replicas").intValue(0),
        Meta.of(deployment).path("resourceVersion").asString(""));
  }
}
