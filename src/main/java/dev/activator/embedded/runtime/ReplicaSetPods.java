package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.policy.ExitReason;
import dev.activator.embedded.runtime.policy.LocalPodState;
import dev.activator.embedded.runtime.policy.ReplicaDifference;
import dev.activator.loop.Loop;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The pods of one ReplicaSet. It creates and stops them, and writes their objects and statuses.
 * Endpoints are written first, since requests wait for them.
 *
 * <p><b>Threads.</b> One loop.
 *
 * <p><b>Errors.</b> If no port is free, the revision's status shows a failure, and the start of the pod is retried.
 */
final class ReplicaSetPods {
  private static final Logger log = LoggerFactory.getLogger(ReplicaSetPods.class);

  private final Kubelet kubelet;
  private final EndpointsController endpoints;
  private final Loop loop;
  private final ControllerWrites objects;
  private final Clock clock;
  private final Map<String, LocalPod> pods = new TreeMap<>();
  private ObjectNode replicaSet;
  private PodTemplate template;
  private Loop.@Nullable Timer retry;
  private int refusals;
  private int wanted;
  private boolean retired;

  ReplicaSetPods(ObjectNode replicaSet, Kubelet kubelet, EndpointsController endpoints, Loop loop,
      ControllerWrites objects, Clock clock) {
    this.replicaSet = replicaSet;
    this.template = PodTemplate.of(replicaSet);
    this.kubelet = kubelet;
    this.endpoints = endpoints;
    this.loop = loop;
    this.objects = objects;
    this.clock = clock;
  }

  void update(ObjectNode now) {
    replicaSet = now;
    template = PodTemplate.of(now);
    scale(template.canRun() ? Math.max(0, now.path("spec").path("replicas").intValue(1)) : 0);
  }

  private void scale(int pods) {
    if (wanted != pods) {
      log.info("{} goes from {} to {} pods", template.id(), wanted, pods);
      wanted = pods;
    }
    if (!reconcile()) {
      publishReplicas();
    }
  }

  /** Makes no more pods. Orphaned pods, whose objects were not deleted, continue to run. */
  void retire() {
    retired = true;
  }

  /** Makes no more pods, and drains them. */
  void stop() {
    retire();
    List.copyOf(pods.values()).forEach(this::stop);
  }

  /** Drains a pod. Until it is gone, its object is shown as terminating. */
  private void stop(LocalPod pod) {
    objects.delete(BuiltInKinds.POD, template.namespace(), pod.name());
    pod.stop(template.killAfter());
  }

  /**
   * Drains a pod whose object is being deleted, and makes another one.
   *
   * @param forced whether the object is gone already
   */
  void deleted(String pod, Duration grace, boolean forced) {
    var known = pods.get(pod);
    if (known != null && known.view().wanted()) {
      known.stop(grace);
      reconcile();
    } else if (known != null && forced) {
      known.kill();
    }
  }

  /** Adopts the pods of a ReplicaSet that was deleted without its pods. */
  void adopt(ReplicaSetPods other) {
    if (!other.template.namespace().equals(template.namespace())) {
      return;
    }
    for (var pod : List.copyOf(other.pods.values())) {
      var object = objects.find(BuiltInKinds.POD, template.namespace(), pod.name());
      if (object != null && ControllerRefs.mayAdopt(replicaSet, object)) {
        other.pods.remove(pod.name());
        pods.put(pod.name(), pod);
        pod.adoptedBy(this);
        objects.edit(BuiltInKinds.POD, template.namespace(), pod.name(),
            found -> ControllerRefs.setController(found, BuiltInKinds.REPLICA_SET, replicaSet));
      }
    }
  }

  void configChanged() {
    pods.values().forEach(LocalPod::configChanged);
  }

  void kill() {
    pods.values().forEach(LocalPod::kill);
  }

  boolean runs(String namespace, String pod) {
    return template.namespace().equals(namespace) && pods.containsKey(pod);
  }

  boolean isEmpty() {
    return pods.isEmpty();
  }

  Collection<LocalPod> pods() {
    return pods.values();
  }

  PodTemplate template() {
    return template;
  }

  /** The problem of a process has changed, or is solved. */
  void problemChanged() {
    kubelet.problemChanged(template.id());
  }

  void changed(LocalPod pod) {
    problemChanged();
    endpoints.podsChanged(pod.template());
    publishPod(pod);
    publishReplicas();
    reconcile();
  }

  void failed(LocalPod pod, ExitReason exit) {
    problemChanged();
    publishPod(pod);
    publishFailure(exit);
  }

  /** A process that served requests has ended. It is restarted, and requests wait for that. */
  void restarting(LocalPod pod, ExitReason exit) {
    problemChanged();
    publishPod(pod);
    publishTrouble(now -> now.unknown("Ready", "Restarting", pod.problem()));
  }

  /** The pod's process runs, but is not ready after the usual time. */
  void slow(LocalPod pod) {
    publishPod(pod);
    if (pod.overdue().isEmpty()) {
      publishTrouble(now -> now.unknown("Ready", pod.reason(), pod.problem()));
    } else {
      overdue(pod);
    }
  }

  /** The pod was not ready within its progress deadline. */
  void overdue(LocalPod pod) {
    publishTrouble(now -> now
        .fail("ResourcesAvailable", DeploymentController.OVERDUE, pod.overdue())
        .fail("Ready", DeploymentController.OVERDUE, pod.overdue()));
    publishReplicas();
  }

  void ready(LocalPod pod) {
    log.info("Pod {} is ready", pod.name());
    publishConditions(
        now -> now.setTrue("ContainerHealthy").setTrue("ResourcesAvailable").setTrue("Ready"));
  }

  void removed(LocalPod pod) {
    pods.remove(pod.name());
    problemChanged();
    log.info("Pod {} is gone", pod.name());
    var last = objects.removePod(template.namespace(), pod.name());
    kubelet.gone(template.namespace(), pod.name(), last);
    publishReplicas();
  }

  /** Returns whether pods were made, which publishes the replicas later. */
  private boolean reconcile() {
    if (retired || ObjectMeta.terminating(replicaSet)) {
      return false;
    }
    var step = ReplicaDifference.of(wanted, views(), this::deletionCost);
    step.surplus().forEach(name -> {
      var pod = pods.get(name);
      if (pod != null) {
        stop(pod);
      }
    });
    for (int i = 0; i < step.missing() && retry == null; i++) {
      makeOne();
    }
    return step.missing() > 0 && retry == null;
  }

  private int deletionCost(String pod) {
    var object = objects.find(BuiltInKinds.POD, template.namespace(), pod);
    return object == null
        ? 0
        : ReplicaDifference.parseDeletionCost(object.path("metadata").path("annotations")
            .path("controller.kubernetes.io/pod-deletion-cost").asString(""));
  }

  private void makeOne() {
    LocalPod pod;
    try {
      pod = kubelet.makePod(template, this);
    } catch (IllegalStateException | UncheckedIOException e) {
      retryLater(e);
      return;
    }
    refusals = 0;
    pods.put(pod.name(), pod);
    objects.create(BuiltInKinds.POD,
        PodObjectBuilder.pod(template, replicaSet, pod.name(), pod.port()));
    pod.start();
    endpoints.podsChanged(template);
    loop.schedule(PodProcess.HEAD_START, () -> {
      publishPod(pod);
      publishReplicas();
    });
  }

  private void retryLater(RuntimeException noPort) {
    log.warn("No pod of {} can be made; trying again", template.id(), noPort);
    publishFailure(ExitReason.cannotRun(template.id().name(), String.valueOf(noPort.getMessage())));
    retry = loop.schedule(LocalPodState.pauseAfter(refusals++), () -> {
      retry = null;
      reconcile();
    });
  }

  private void publishPod(LocalPod pod) {
    objects.updateStatus(BuiltInKinds.POD, template.namespace(), pod.name(),
        object -> PodObjectBuilder.withStatus(object, pod, clock.instant()));
  }

  private void publishFailure(ExitReason exit) {
    publishTrouble(now -> now.fail("ContainerHealthy", exit.reason(), exit.message())
        .fail("Ready", exit.reason(), exit.message()));
  }

  /** Publishes conditions about a problem, unless a pod is ready. */
  private void publishTrouble(Consumer<ConditionManager> change) {
    if (views().stream().noneMatch(LocalPodState.View::ready)) {
      publishConditions(change);
    }
  }

  private void publishConditions(Consumer<ConditionManager> change) {
    if (template.isRevision()) {
      objects.updateStatus(BuiltInKinds.REVISION, template.namespace(), template.id().name(),
          object -> change.accept(ConditionManager.of(object, clock.instant())));
    }
  }

  private void publishReplicas() {
    if (!retired) {
      objects.updateStatus(BuiltInKinds.REPLICA_SET, template.namespace(), template.name(),
          found -> {
            publishOverdue(found);
            PodObjectBuilder.withReplicas(found, views());
          });
    }
  }

  private void publishOverdue(ObjectNode found) {
    var overdue = views().stream().anyMatch(LocalPodState.View::ready)
        ? ""
        : pods.values().stream().map(LocalPod::overdue).filter(one -> !one.isEmpty()).findFirst()
            .orElse("");
    if (!overdue.isEmpty()) {
      ConditionManager.of(found, clock.instant()).setTrue(DeploymentController.REPLICA_FAILURE,
          DeploymentController.OVERDUE, overdue);
    } else if (ConditionManager.isTrue(found, DeploymentController.REPLICA_FAILURE)) {
      ConditionManager.of(found, clock.instant()).fail(DeploymentController.REPLICA_FAILURE,
          "PodsReady", "");
    }
  }

  private List<LocalPodState.View> views() {
    return pods.values().stream().map(LocalPod::view).toList();
  }
}
