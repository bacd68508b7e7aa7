package dev.activator.embedded.runtime;

import dev.activator.standalone.autoscaler.Autoscaler;
import dev.activator.standalone.autoscaler.policy.ScalingAnnotations;
import dev.activator.standalone.autoscaler.policy.ScalingAnnotations.Defaults;
import dev.activator.standalone.autoscaler.policy.ScalingSettings;
import dev.activator.embedded.api.apply.FieldOwnership;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.ApiStore.StoreSubscription;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.loop.Loop;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The autoscaler's scale client in embedded mode. It also reports revisions and their ready pods to
 * the autoscaler.
 *
 * <p><b>Threads.</b> Events are handled on one loop. Any thread may read and write scales.
 */
public final class EmbeddedScaleClient implements ScaleClient<ScaleTarget> {
  static final String INITIAL_SCALE = "autoscaling.knative.dev/initial-scale";

  private final ApiStore store;
  private final Loop loop;
  private final Defaults defaults;
  private final List<StoreSubscription> subscriptions = new ArrayList<>();

  /** @param defaults the settings of revisions without annotations */
  public EmbeddedScaleClient(ApiStore store, Loop loop, Defaults defaults) {
    this.store = store;
    this.loop = loop;
    this.defaults = defaults;
  }

  public void start(Autoscaler autoscaler) {
    subscriptions
        .add(store.subscribe(BuiltInKinds.REVISION, loop,
            event -> revisionChanged(event, autoscaler)));
    subscriptions.add(store.subscribe(BuiltInKinds.DEPLOYMENT, loop,
        event -> deploymentChanged(event, autoscaler)));
  }

  public void stop() {
    subscriptions.forEach(StoreSubscription::close);
  }

  private void revisionChanged(ApiStoreChange event, Autoscaler autoscaler) {
    var revision = event.object();
    var id = new RevisionId(ObjectMeta.namespace(revision), ObjectMeta.name(revision));
    var workload = new ScaleTargetRef("apps/v1", "Deployment",
        RevisionObjects.deploymentName(id.name()));
    if (event.type() == ApiStoreChange.Type.DELETED) {
      // A ScaledService with the same name may already be scaled.
      autoscaler.targetGone(id, workload);
      return;
    }
    autoscaler.target(id, workload, settings(revision));
    var deployment = store.find(BuiltInKinds.DEPLOYMENT, id.namespace(), workload.name());
    if (deployment != null) {
      // The Deployment may be older than the revision, if it was orphaned by an earlier revision
      // with this name.
      autoscaler.pods(id, ready(deployment));
    }
  }

  private static void deploymentChanged(ApiStoreChange event, Autoscaler autoscaler) {
    var deployment = event.object();
    String revision = ObjectMeta.labels(deployment).getOrDefault(KnownLabels.REVISION, "");
    if (!revision.isEmpty()) {
      boolean exists = event.type() != ApiStoreChange.Type.DELETED;
      autoscaler.pods(new RevisionId(ObjectMeta.namespace(deployment), revision),
          exists ? ready(deployment) : 0);
    }
  }

  private static int ready(ObjectNode deployment) {
    return deployment.path("status").path("readyReplicas").intValue(0);
  }

  /** The settings of a revision. One that gets no requests by a host has no minimum of pods. */
  ScalingSettings settings(ObjectNode revision) {
    var annotations = annotations(ObjectMeta.of(revision));
    annotations.putIfAbsent(INITIAL_SCALE, "1");
    var own = ScalingAnnotations.settings(annotations,
        revision.at("/spec/containerConcurrency").intValue(0), defaults);
    boolean reserve = ServiceRouter.RESERVE
        .equals(ObjectMeta.labels(revision).get(KnownLabels.ROUTING_STATE));
    return reserve ? own.unreachable() : own;
  }

  /** The number of pods with which a new revision starts. */
  static int initialScale(ObjectNode revision) {
    String number = annotations(ObjectMeta.of(revision)).getOrDefault(INITIAL_SCALE, "");
    return number.matches("\\d{1,4}") ? Integer.parseInt(number) : 1;
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

  @Override
  public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTarget workload) {
    return answer(() -> {
      var deployment = store.find(BuiltInKinds.DEPLOYMENT, id.namespace(), workload.name());
      if (deployment == null) {
        throw StatusException.notFound(BuiltInKinds.DEPLOYMENT, workload.name());
      }
      return found(deployment);
    });
  }

  @Override
  public CompletableFuture<String> managerOfReplicas(RevisionId id, ScaleTarget workload) {
    var deployment = store.find(BuiltInKinds.DEPLOYMENT, id.namespace(), workload.name());
    return CompletableFuture.completedFuture(
        FieldOwnership.of(BuiltInKinds.DEPLOYMENT, "", deployment).managerOfReplicas());
  }

  @Override
  public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTarget workload,
      ScaleApiResult.Found read, int replicas) {
    return answer(() -> found(
        store.edit(BuiltInKinds.DEPLOYMENT, id.namespace(), workload.name(), deployment -> {
          if (!version(deployment).equals(read.resourceVersion())) {
            throw StatusException.conflict(BuiltInKinds.DEPLOYMENT, workload.name());
          }
          ((ObjectNode) deployment.path("spec")).put("replicas", replicas);
          return deployment;
        })));
  }

  private static CompletableFuture<ScaleApiResult> answer(Supplier<ScaleApiResult> work) {
    try {
      return CompletableFuture.completedFuture(work.get());
    } catch (StatusException e) {
      var reason = switch (e.reason()) {
        case "NotFound" -> Reason.NOT_FOUND;
        case "Conflict" -> Reason.CONFLICT;
        default -> Reason.INVALID;
      };
      return CompletableFuture
          .completedFuture(new ScaleApiResult.Refused(reason, String.valueOf(e.getMessage())));
    }
  }

  /** At zero, pods that are still ending count, because Endpoints cannot list them. */
  private ScaleApiResult found(ObjectNode deployment) {
    int replicas = deployment.path("spec").path("replicas").intValue(1);
    return new ScaleApiResult.Found(replicas,
        replicas == 0
            ? pods(store, deployment).size()
            : deployment.path("status").path("replicas").intValue(0),
        version(deployment));
  }

  /** Changes with the object and its spec: a status that is written meanwhile is no conflict. */
  private static String version(ObjectNode deployment) {
    return ObjectMeta.uid(deployment) + " "
        + ObjectMeta.of(deployment).path("generation").asString("");
  }

  /** The pods that a Deployment selects, also those that are ending. */
  public static List<ObjectNode> pods(ApiStore store, ObjectNode deployment) {
    var selector = ControllerRefs.selector(deployment.at("/spec/selector"));
    return store.list(BuiltInKinds.POD,
        pod -> ObjectMeta.namespace(pod).equals(ObjectMeta.namespace(deployment))
            && selector.matches(ObjectMeta.labels(pod)));
  }
}
