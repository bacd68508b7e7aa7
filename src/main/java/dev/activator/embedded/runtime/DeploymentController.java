package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.ApiStore.StoreSubscription;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.policy.Rollout;
import dev.activator.kube.WorkQueue;
import dev.activator.loop.Loop;
import dev.activator.loop.policy.Backoff;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The controller of Deployments. It creates a ReplicaSet for each of the last templates, and moves
 * the replicas to the ReplicaSet of the current template.
 *
 * <p><b>Threads.</b> One loop.
 *
 * <p><b>Source.</b> {@code pkg/controller/deployment} of Kubernetes, with {@code maxSurge: 100%}.
 */
final class DeploymentController {
  private static final Logger log = LoggerFactory.getLogger(DeploymentController.class);
  static final String HASH = "pod-template-hash";
  private static final String PREFIX = "deployment.kubernetes.io/";
  private static final String REVISION = PREFIX + "revision";
  private static final String HISTORY = PREFIX + "revision-history";
  /** Annotations that are not copied to ReplicaSets. */
  private static final Set<String> NOT_COPIED = Set.of(REVISION, HISTORY,
      "kubectl.kubernetes.io/last-applied-configuration");
  /** The condition that pods were not ready in time. ReplicaSets have it, too. */
  static final String REPLICA_FAILURE = "ReplicaFailure";
  static final String OVERDUE = "ProgressDeadlineExceeded";
  private static final String NO_COMMAND = "NoCommand";
  private static final String NO_COMMAND_TEXT = "embedded mode runs local processes, not images: give the container a command";
  private static final String CREATE_ERROR = "ReplicaSetCreateError";
  private static final String REFUSED = "The API refused its ReplicaSet; the log has the reason.";
  private static final int DEFAULT_HISTORY = 10;
  private static final int HASH_LENGTH = 10;

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration MAX_PAUSE = Duration.ofMinutes(1);

  private final ApiStore store;
  private final Loop loop;
  private final ControllerWrites objects;
  private final WorkQueue<RevisionId> queue;

  DeploymentController(ApiStore store, Loop loop) {
    this.store = store;
    this.loop = loop;
    this.objects = new ControllerWrites(store);
    this.queue = new WorkQueue<>(loop, 1, () -> new Backoff(FIRST_PAUSE, MAX_PAUSE, 0, () -> 0),
        () -> true, _ -> {
        }, id -> {
          reconcile(id);
          return CompletableFuture.completedFuture(WorkQueue.Done.NOW);
        });
    for (var kind : List.of(BuiltInKinds.DEPLOYMENT, BuiltInKinds.REPLICA_SET)) {
      store.onAdmission(kind,
          object -> WorkloadAdmission.admit(object, store.stored(kind, object)));
    }
  }

  List<StoreSubscription> subscribe() {
    loop.execute(queue::start);
    return List.of(store.subscribe(BuiltInKinds.DEPLOYMENT, loop, event -> add(event.object())),
        store.subscribe(BuiltInKinds.REPLICA_SET, loop, this::replicaSetChanged),
        () -> loop.execute(queue::stop));
  }

  private void add(JsonNode deployment) {
    queue.add(new RevisionId(ObjectMeta.namespace(deployment), ObjectMeta.name(deployment)));
  }

  private void replicaSetChanged(ApiStoreChange event) {
    var set = event.object();
    String controller = ControllerRefs.controller(set).path("name").asString("");
    if (controller.isEmpty()) {
      store.list(BuiltInKinds.DEPLOYMENT, one -> ControllerRefs.mayAdopt(one, set))
          .forEach(this::add);
    } else {
      queue.add(new RevisionId(ObjectMeta.namespace(set), controller));
    }
  }

  private void reconcile(RevisionId id) {
    var deployment = store.find(BuiltInKinds.DEPLOYMENT, id.namespace(), id.name());
    if (deployment == null) {
      return;
    }
    adopt(deployment);
    var sets = sets(deployment);
    var current = current(deployment, sets);
    if (!ObjectMeta.terminating(deployment)) {
      boolean paused = deployment.at("/spec/paused").asBoolean(false);
      boolean isNew = current == null && !paused;
      if (isNew) {
        create(deployment);
        sets = sets(deployment);
        current = current(deployment, sets);
      }
      var earlier = earlier(sets, current);
      if (scale(deployment, current, earlier, paused) || isNew && current != null) {
        // The pods come first. The events about the ReplicaSets lead here again.
        return;
      }
      cleanUp(deployment, earlier);
    }
    publish(deployment, sets, current);
  }

  private void adopt(ObjectNode deployment) {
    store.list(BuiltInKinds.REPLICA_SET, one -> ControllerRefs.mayAdopt(deployment, one)).forEach(
        one -> objects.edit(BuiltInKinds.REPLICA_SET, one,
            set -> ControllerRefs.setController(set, BuiltInKinds.DEPLOYMENT, deployment)));
  }

  private List<ObjectNode> sets(ObjectNode deployment) {
    return store.list(BuiltInKinds.REPLICA_SET, one -> ControllerRefs.controls(deployment, one));
  }

  private static @Nullable ObjectNode current(ObjectNode deployment, List<ObjectNode> sets) {
    var template = withoutHash(deployment);
    return sets.stream().filter(set -> Json.same(withoutHash(set), template))
        .findFirst().orElse(null);
  }

  private static List<ObjectNode> earlier(List<ObjectNode> sets, @Nullable ObjectNode current) {
    return sets.stream().filter(set -> set != current)
        .sorted(Comparator.comparing(DeploymentController::revision)).toList();
  }

  private static JsonNode withoutHash(JsonNode workload) {
    var template = workload.at("/spec/template").deepCopy();
    if (template.at("/metadata/labels") instanceof ObjectNode labels) {
      labels.remove(HASH);
    }
    return Json.withoutUnset(template);
  }

  private static long revision(JsonNode object) {
    return object.path("metadata").path("annotations").path(REVISION).asLong(0);
  }

  /**
   * Creates a ReplicaSet. It tries several names, since a ReplicaSet of another template, or an
   * orphaned one, may have the first name.
   */
  private void create(ObjectNode deployment) {
    String fingerprint = RevisionObjects.fingerprint(withoutHash(deployment));
    for (int i = 0; i + HASH_LENGTH <= fingerprint.length(); i++) {
      String hash = encoded(fingerprint.substring(i, i + HASH_LENGTH));
      if (objects.create(BuiltInKinds.REPLICA_SET, replicaSet(deployment, hash))) {
        return;
      }
    }
    log.warn("Deployment {} gets no ReplicaSet: all its names are taken",
        ObjectMeta.key(deployment));
  }

  /**
   * Encodes a hash in the alphabet of generated names, because tools recognise a workload's pods by
   * that.
   */
  private static String encoded(String hex) {
    var letters = new StringBuilder();
    hex.chars().forEach(digit -> letters
        .append(Kubelet.LETTERS.charAt(digit % Kubelet.LETTERS.length())));
    return letters.toString();
  }

  private static ObjectNode replicaSet(ObjectNode deployment, String hash) {
    var set = ControllerWrites.named(BuiltInKinds.REPLICA_SET, ObjectMeta.namespace(deployment),
        ObjectMeta.name(deployment) + "-" + hash);
    ControllerRefs.setController(set, BuiltInKinds.DEPLOYMENT, deployment);
    // One that begins with none would stop the pods that it adopts.
    var spec = set.putObject("spec").put("replicas", wanted(deployment));
    spec.set("selector", deployment.at("/spec/selector").deepCopy());
    spec.withObjectProperty("selector").withObjectProperty("matchLabels").put(HASH, hash);
    spec.set("template", deployment.at("/spec/template").deepCopy());
    var labels = spec.withObjectProperty("template").withObjectProperty("metadata")
        .withObjectProperty("labels").put(HASH, hash);
    ObjectMeta.of(set).set("labels", labels.deepCopy());
    return set;
  }

  /** Returns whether the replicas of a ReplicaSet change. */
  private boolean scale(ObjectNode deployment, @Nullable ObjectNode current,
      List<ObjectNode> earlier, boolean paused) {
    int wanted = wanted(deployment);
    var rollout = new Rollout(current == null ? null : member(current),
        earlier.stream().map(DeploymentController::member).toList());
    var replicas = paused ? rollout.pausedReplicas(wanted) : rollout.replicas(wanted);
    boolean changes = false;
    for (var set : earlier) {
      changes |= replicas(set, replicas) != member(set).replicas();
      objects.edit(BuiltInKinds.REPLICA_SET, set, found -> setReplicas(found, replicas));
    }
    if (current == null) {
      return changes;
    }
    long newest = earlier.stream().mapToLong(DeploymentController::revision).max().orElse(0) + 1;
    objects.edit(BuiltInKinds.REPLICA_SET, current,
        set -> {
          setReplicas(set, replicas);
          annotate(deployment, set, Math.max(newest, revision(set)));
        });
    long number = Math.max(newest, revision(current));
    if (revision(deployment) != number) {
      objects.edit(BuiltInKinds.DEPLOYMENT, deployment,
          found -> ObjectMeta.of(found).withObjectProperty("annotations").put(REVISION,
              String.valueOf(number)));
    }
    return changes || replicas(current, replicas) != member(current).replicas();
  }

  private static int wanted(JsonNode deployment) {
    return Math.max(0, deployment.at("/spec/replicas").asInt(1));
  }

  private static int replicas(ObjectNode set, Map<String, Integer> replicas) {
    return replicas.getOrDefault(ObjectMeta.name(set), 0);
  }

  private static void setReplicas(ObjectNode set, Map<String, Integer> replicas) {
    set.withObjectProperty("spec").put("replicas", replicas(set, replicas));
  }

  private static void annotate(ObjectNode deployment, ObjectNode set, long revision) {
    var annotations = ObjectMeta.of(set).withObjectProperty("annotations");
    deployment.at("/metadata/annotations").properties().stream()
        .filter(one -> !NOT_COPIED.contains(one.getKey()))
        .forEach(one -> annotations.set(one.getKey(), one.getValue()));
    long before = revision(set);
    if (before != 0 && before != revision) {
      String history = annotations.path(HISTORY).asString("");
      annotations.put(HISTORY, history.isEmpty() ? "" + before : history + "," + before);
    }
    annotations.put(REVISION, String.valueOf(revision));
    annotations.put(PREFIX + "desired-replicas", String.valueOf(wanted(deployment)));
  }

  private static Rollout.Member member(JsonNode set) {
    return new Rollout.Member(ObjectMeta.name(set), revision(set),
        set.at("/spec/replicas").asInt(0),
        set.at("/status/readyReplicas").asInt(0));
  }

  private void cleanUp(ObjectNode deployment, List<ObjectNode> earlier) {
    int limit = deployment.at("/spec/revisionHistoryLimit").asInt(DEFAULT_HISTORY);
    earlier.stream().limit(Math.max(0, earlier.size() - limit))
        .filter(set -> set.at("/spec/replicas").asInt(0) == 0
            && set.at("/status/replicas").asInt(0) == 0 && !ObjectMeta.terminating(set))
        .forEach(
            set -> objects.delete(BuiltInKinds.REPLICA_SET, set));
  }

  private void publish(ObjectNode deployment, List<ObjectNode> sets,
      @Nullable ObjectNode current) {
    int ready = sum(sets, "/status/readyReplicas");
    int wanted = wanted(deployment);
    boolean runs = PodTemplate.of(deployment).canRun();
    objects.updateStatus(BuiltInKinds.DEPLOYMENT, deployment,
        found -> {
          var status = found.withObjectProperty("status")
              .put("observedGeneration", deployment.at("/metadata/generation").longValue(1));
          PodObjectBuilder.count(status, "replicas", sum(sets, "/status/replicas"));
          PodObjectBuilder.count(status, "updatedReplicas",
              current == null ? 0 : sum(List.of(current), "/status/replicas"));
          PodObjectBuilder.count(status, "readyReplicas", ready);
          PodObjectBuilder.count(status, "availableReplicas", ready);
          PodObjectBuilder.count(status, "unavailableReplicas", wanted - Math.min(wanted, ready));
          conditions(found, ready >= wanted, runs,
              current == null && !ObjectMeta.terminating(deployment)
                  ? REFUSED
                  : overdue(sets));
        });
    publishRevision(deployment, ready);
  }

  /** The reason why no pod of these ReplicaSets was ready in time; empty if one may still be. */
  private static String overdue(List<ObjectNode> sets) {
    return sets.stream().map(set -> ConditionManager.find(set, REPLICA_FAILURE))
        .filter(one -> one.path("status").asString("").equals("True"))
        .map(one -> one.path("message").asString("")).findFirst().orElse("");
  }

  /** @param problem why the Deployment does not progress; empty if it may */
  private void conditions(ObjectNode deployment, boolean available, boolean runs,
      String problem) {
    var conditions = ConditionManager.of(deployment, store.now());
    if (!runs) {
      if (!ConditionManager.isTrue(deployment, REPLICA_FAILURE)) {
        log.warn("Deployment {} does not run: its container has no command",
            ObjectMeta.key(deployment));
        conditions.fail("Available", NO_COMMAND, NO_COMMAND_TEXT);
        conditions.setTrue(REPLICA_FAILURE, NO_COMMAND, NO_COMMAND_TEXT);
      }
      return;
    }
    if (ConditionManager.isTrue(deployment, REPLICA_FAILURE)) {
      conditions.fail(REPLICA_FAILURE, "CommandGiven", "");
    }
    if (available) {
      conditions.setTrue("Available", "MinimumReplicasAvailable",
          "Deployment has minimum availability.");
    } else if (ConditionManager.find(deployment, "Available").isMissingNode()
        || ConditionManager.isTrue(deployment, "Available")) {
      conditions.fail("Available", "MinimumReplicasUnavailable",
          "Deployment does not have minimum availability.");
    }
    if (deployment.at("/spec/paused").asBoolean(false)) {
      conditions.unknown("Progressing", "DeploymentPaused", "Deployment is paused");
    } else if (problem.equals(REFUSED) || !problem.isEmpty() && !available) {
      if (!ConditionManager.find(deployment, "Progressing").path("message").asString("")
          .equals(problem)) {
        conditions.fail("Progressing", problem.equals(REFUSED) ? CREATE_ERROR : OVERDUE, problem);
      }
    } else {
      conditions.setTrue("Progressing", available ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
          available ? "The newest ReplicaSet has all its replicas." : "The ReplicaSet progresses.");
    }
  }

  private void publishRevision(ObjectNode deployment, int ready) {
    String revision = ObjectMeta.labels(deployment).getOrDefault(KnownLabels.REVISION, "");
    if (!revision.isEmpty()) {
      objects.updateStatus(BuiltInKinds.REVISION, ObjectMeta.namespace(deployment), revision,
          found -> found.withObjectProperty("status").put("actualReplicas", ready)
              .put("desiredReplicas", wanted(deployment)));
    }
  }

  private static int sum(List<ObjectNode> sets, String field) {
    return sets.stream().mapToInt(set -> set.at(field).asInt(0)).sum();
  }
}
