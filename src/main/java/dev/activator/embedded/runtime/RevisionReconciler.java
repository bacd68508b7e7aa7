package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Creates the objects of a Revision: two Services, their Endpoints and a Deployment. Existing
 * objects are not changed.
 *
 * <p><b>Threads.</b> One loop.
 *
 * <p><b>Source.</b> Knative Serving's revision and serverlessservice reconcilers.
 */
final class RevisionReconciler {
  private final ApiStore store;
  private final ControllerWrites objects;
  private final String address;
  private int requestPort;

  /** @param address the address where the activator takes requests */
  RevisionReconciler(ApiStore store, ControllerWrites objects, String address) {
    this.store = store;
    this.objects = objects;
    this.address = address;
  }

  void start(int port) {
    requestPort = port;
  }

  /** Creates the objects of a revision that do not exist. */
  void complete(ObjectNode revision) {
    if (ObjectMeta.terminating(revision)) {
      return;
    }
    var wanted = new RevisionObjects(revision);
    ensure(BuiltInKinds.SERVICE, wanted.publicService());
    ensure(BuiltInKinds.SERVICE, wanted.privateService());
    ensure(BuiltInKinds.ENDPOINTS, wanted.privateEndpoints());
    ensure(BuiltInKinds.ENDPOINTS, wanted.publicEndpoints(address, requestPort));
    int replicas = revision.at("/status/desiredReplicas")
        .asInt(EmbeddedScaleClient.initialScale(revision));
    var deployment = wanted.deployment(replicas);
    if (!exists(BuiltInKinds.DEPLOYMENT, deployment)) {
      ensure(BuiltInKinds.DEPLOYMENT, deployment);
      if (replicas > 0) {
        objects.updateStatus(BuiltInKinds.REVISION, revision,
            this::deploying);
      }
    }
  }

  private void deploying(ObjectNode revision) {
    ConditionManager.of(revision, store.now()).unknown("ContainerHealthy", "Deploying", "")
        .unknown(ServingController.READY, "Deploying", "");
  }

  /**
   * Sets the first status of a revision. A revision that begins without pods is ready, because the
   * first request starts a pod.
   */
  void begin(ObjectNode revision) {
    if (ConditionManager.find(revision, ServingController.READY).isMissingNode()) {
      if (EmbeddedScaleClient.initialScale(revision) == 0) {
        ConditionManager.of(revision, store.now()).setTrue(ServingController.READY);
      } else {
        deploying(revision);
      }
    }
  }

  /** Creates an object if it does not exist. Returns null if the namespace is deleted. */
  @Nullable ObjectNode ensure(Kind kind, ObjectNode object) {
    if (!exists(kind, object)) {
      objects.create(kind, object);
    }
    return store.stored(kind, object);
  }

  private boolean exists(Kind kind, ObjectNode object) {
    return store.stored(kind, object) != null;
  }
}
