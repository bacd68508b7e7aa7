package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.runtime.policy.Exit;
import dev.activator.embedded.runtime.policy.PodState;
import dev.activator.embedded.runtime.policy.PodView;
import dev.activator.embedded.runtime.policy.Replicas;
import dev.activator.loop.Loop;
import java.io.UncheckedIOException;
import java.time.Clock;
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
 * The pods of one Deployment, and their objects. Endpoints are written first, since requests wait for
 * them.
 *
 * <p><b>Threads.</b> One loop.
 *
 * <p><b>Errors.</b> If no port is free, the revision's status reports a failure, and the pod is
 * retried.
 */
final class DeploymentPods {
  private static final Logger log = LoggerFactory.getLogger(DeploymentPods.class);

  private final Kubelet kubelet;
  private final EndpointsController endpoints;
  private final Loop loop;
  private final StoreWriter objects;
  private final Clock clock;
  private final Map<String, LocalPod> pods = new TreeMap<>();
  private ObjectNode deployment;
  private PodTemplate template;
  private Loop.@Nullable Timer again;
  private int refusals;
  private int wanted;
  private boolean retired;

  DeploymentPods(ObjectNode deployment, Kubelet kubelet, EndpointsController endpoints, Loop loop,
      StoreWriter objects, Clock clock) {
    this.deployment = deployment;
    this.template = PodTemplate.of(deployment);
    this.kubelet = kubelet;
    this.endpoints = endpoints;
    this.loop = loop;
    this.objects = objects;
    this.clock = clock;
  }

  void update(ObjectNode now) {
    deployment = now;
    template = PodTemplate.of(now);
    if (!template.hasCommand() && !template.isSample()) {
      cannotRun();
      return;
    }
    if (Conditions.isTrue(now, "ReplicaFailure")) {
      objects.updateStatus(Kinds.DEPLOYMENT, template.namespace(), template.deployment(),
          found -> Conditions.of(found, clock.instant()).fail("ReplicaFailure", "CommandGiven",
              ""));
    }
    scale(Math.max(0, now.path("spec").path("replicas").intValue(1)));
  }

  private void cannotRun() {
    scale(0);
    objects.updateStatus(Kinds.DEPLOYMENT, template.namespace(), template.deployment(), found -> {
      if (!Conditions.isTrue(found, "ReplicaFailure")) {
        log.warn("Deployment {} does not run: its container has no command", template.id());
        Conditions.of(found, clock.instant()).fail("Available", "NoCommand",
            "embedded mode runs local processes, not images: give the container a command");
        Conditions.of(found, clock.instant()).hold("ReplicaFailure");
      }
    });
  }

  private void scale(int pods) {
    if (wanted != pods) {
      log.info("{} goes from {} to {} pods", template.id(), wanted, pods);
      wanted = pods;
    }
    settle();
    publishReplicas();
  }

  /** Drains the pods and stops writing the objects. */
  void retire() {
    retired = true;
    scale(0);
  }

  /** A user deleted it: drains and replaces it. */
  void deleted(String pod) {
    var known = pods.get(pod);
    if (known != null && known.view().wanted()) {
      known.stop();
      settle();
    }
  }

  void configChanged() {
    pods.values().forEach(LocalPod::configChanged);
  }

  void kill() {
    pods.values().forEach(LocalPod::kill);
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

  /** Why no pod is ready, as far as a process that runs says; empty if one is, or if none runs. */
  private String problem() {
    return pods.values().stream().anyMatch(pod -> pod.view().ready())
        ? ""
        : pods.values().stream().map(LocalPod::problem).filter(one -> !one.isEmpty()).findFirst()
            .orElse("");
  }

  /** What keeps a process from being ready is another thing than before, or gone. */
  void problemChanged() {
    kubelet.problem(template.id(), problem());
  }

  void changed(LocalPod pod) {
    problemChanged();
    endpoints.podsChanged(pod.template());
    publishPod(pod);
    publishReplicas();
    settle();
  }

  void failed(LocalPod pod, Exit exit) {
    publishPod(pod);
    publishFailure(exit);
  }

  /** The pod's process runs, and is not ready in the usual time. */
  void slow(LocalPod pod) {
    publishPod(pod);
    publishTrouble(now -> now.unknown("Ready", "Deploying", pod.problem()));
  }

  void ready(LocalPod pod) {
    log.info("Pod {} is ready", pod.name());
    publishConditions(now -> now.hold("ContainerHealthy").hold("ResourcesAvailable").hold("Ready"));
  }

  void removed(LocalPod pod) {
    pods.remove(pod.name());
    problemChanged();
    log.info("Pod {} is gone", pod.name());
    objects.delete(Kinds.POD, template.namespace(), pod.name());
    kubelet.forget(template.namespace(), pod.name());
    publishReplicas();
  }

  private void settle() {
    var step = Replicas.of(wanted, views(true), views(false));
    step.surplus().forEach(name -> {
      var pod = pods.get(name);
      if (pod != null) {
        pod.stop();
      }
    });
    for (int i = 0; i < step.missing() && again == null; i++) {
      makeOne();
    }
  }

  private void makeOne() {
    LocalPod pod;
    try {
      pod = kubelet.makePod(template, this);
    } catch (IllegalStateException | UncheckedIOException noPort) {
      cannotMake(noPort);
      return;
    }
    refusals = 0;
    pods.put(pod.name(), pod);
    objects.create(Kinds.POD,
        PodObjects.pod(template, deployment, pod.name(), pod.port()));
    pod.start();
    endpoints.podsChanged(template);
    publishPod(pod);
    publishReplicas();
  }

  private void cannotMake(RuntimeException noPort) {
    log.warn("No pod of {} can be made; trying again", template.id(), noPort);
    publishFailure(Exit.cannotRun(template.id().name(), String.valueOf(noPort.getMessage())));
    again = loop.schedule(PodState.pauseAfter(refusals++), () -> {
      again = null;
      settle();
    });
  }

  private void publishPod(LocalPod pod) {
    objects.updateStatus(Kinds.POD, template.namespace(), pod.name(),
        object -> PodObjects.withStatus(object, pod, clock.instant()));
  }

  private void publishFailure(Exit exit) {
    publishTrouble(now -> now.fail("ContainerHealthy", exit.reason(), exit.message())
        .fail("Ready", exit.reason(), exit.message()));
  }

  /** One pod that is ready is enough. */
  private void publishTrouble(Consumer<Conditions> change) {
    if (views(true).stream().noneMatch(PodView::ready)) {
      publishConditions(change);
    }
  }

  private void publishConditions(Consumer<Conditions> change) {
    if (template.isRevision()) {
      objects.updateStatus(Kinds.REVISION, template.namespace(), template.id().name(),
          object -> change.accept(Conditions.of(object, clock.instant())));
    }
  }

  private void publishReplicas() {
    if (!retired) {
      var all = pods.values().stream().map(LocalPod::view).toList();
      long updated = views(true).stream().filter(PodView::wanted).count();
      objects.updateStatus(Kinds.DEPLOYMENT, template.namespace(), template.deployment(),
          found -> PodObjects.withReplicas(found, all, updated, clock.instant()));
      publishRevisionReplicas(all.stream().filter(PodView::ready).count());
    }
  }

  private void publishRevisionReplicas(long ready) {
    if (template.isRevision()) {
      objects.updateStatus(Kinds.REVISION, template.namespace(), template.id().name(),
          revision -> revision.withObjectProperty("status").put("actualReplicas", ready)
              .put("desiredReplicas", wanted));
    }
  }

  /** @param current whether of the current template, or of earlier ones */
  private List<PodView> views(boolean current) {
    return pods.values().stream().filter(pod -> pod.template().equals(template) == current)
        .map(LocalPod::view).toList();
  }
}
