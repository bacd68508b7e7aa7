package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.runtime.serving.Labels;
import dev.activator.revision.RevisionId;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs as many pods of each revision as its Deployment says.
 *
 * <p>
 * <b>Threads.</b> Those of one loop.
 */
final class Kubelet {
  private final ApiStore store;
  private final Objects objects;
  private final PodFactory factory;
  private final Clock clock;
  private final Map<RevisionId, RevisionPods> revisions = new HashMap<>();
  private final List<RevisionPods> retired = new ArrayList<>();
  private boolean stopping;

  Kubelet(ApiStore store, PodFactory factory, Clock clock) {
    this.store = store;
    this.objects = new Objects(store);
    this.factory = factory;
    this.clock = clock;
  }

  /** A Deployment was made or deleted, or its number of pods changed. */
  void deploymentChanged(ApiEvent event) {
    var deployment = event.object();
    String name = Meta.labels(deployment).getOrDefault(Labels.REVISION, "");
    if (name.isEmpty() || stopping) {
      return;
    }
    var id = new RevisionId(Meta.namespace(deployment), name);
    if (event.type() == ApiEvent.Type.DELETED) {
      retire(id);
    } else {
      scale(id, deployment);
    }
  }

  /** A Pod changed; only that someone deleted it matters here. */
  void podChanged(ApiEvent event) {
    String name = Meta.labels(event.object()).getOrDefault(Labels.REVISION, "");
    if (event.type() == ApiEvent.Type.DELETED && !name.isEmpty()) {
      var pods = revisions.get(new RevisionId(Meta.namespace(event.object()), name));
      if (pods != null) {
        pods.deleted(Meta.name(event.object()));
      }
    }
  }

  /** Ends all pods, and starts none any more. */
  void stop() {
    stopping = true;
    List.copyOf(revisions.keySet()).forEach(this::retire);
  }

  /** Ends all processes now. */
  void kill() {
    retired.forEach(RevisionPods::kill);
  }

  /** Whether no pod is left. */
  boolean isEmpty() {
    retired.removeIf(RevisionPods::isEmpty);
    return retired.isEmpty() && revisions.values().stream().allMatch(RevisionPods::isEmpty);
  }

  private void scale(RevisionId id, ObjectNode deployment) {
    int replicas = replicas(deployment);
    var pods = revisions.get(id);
    if (pods == null && replicas > 0) {
      var revision = store.find(Kinds.REVISION, id.namespace(), id.name());
      if (revision == null) {
        return;
      }
      pods = new RevisionPods(revision, labels(deployment), factory, objects, clock);
      revisions.put(id, pods);
    }
    if (pods != null) {
      pods.scale(replicas);
    }
  }

  private void retire(RevisionId id) {
    retired.removeIf(RevisionPods::isEmpty);
    var pods = revisions.remove(id);
    if (pods != null) {
      pods.retire();
      retired.add(pods);
    }
  }

  private static Map<String, String> labels(JsonNode deployment) {
    return Meta.labels(deployment.path("spec").path("template"));
  }

  private static int replicas(JsonNode deployment) {
    return Math.max(0, deployment.path("spec").path("replicas").intValue(1));
  }
}
