package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.runtime.policy.Exit;
import dev.activator.embedded.runtime.policy.PodState;
import dev.activator.embedded.runtime.policy.PodView;
import dev.activator.embedded.runtime.policy.Replicas;
import dev.activator.loop.Loop;
import dev.activator.revision.ChildName;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pods of one revision, and their objects. The private Endpoints are written first, since
 * requests wait for them.
 *
 * <p>
 * <b>Threads.</b> One loop.
 *
 * <p>
 * <b>Errors.</b> If no port is free, the revision's status reports a failure, and the pod is
 * retried.
 */
final class RevisionPods {
  private static final Logger log = LoggerFactory.getLogger(RevisionPods.class);

  private final LocalRevision revision;
  private final Map<String, String> labels;
  private final Kubelet kubelet;
  private final Loop loop;
  private final StoreWriter objects;
  private final Clock clock;
  private final Map<String, LocalPod> pods = new TreeMap<>();
  private Loop.@Nullable Timer again;
  private int refusals;
  private int wanted;
  private boolean retired;

  RevisionPods(LocalRevision revision, Map<String, String> labels, Kubelet kubelet, Loop loop,
      StoreWriter objects, Clock clock) {
    this.revision = revision;
    this.labels = Map.copyOf(labels);
    this.kubelet = kubelet;
    this.loop = loop;
    this.objects = objects;
    this.clock = clock;
  }

  void scale(int pods) {
    if (wanted != pods) {
      log.info("{} goes from {} to {} pods", revision.id(), wanted, pods);
      wanted = pods;
    }
    settle();
  }

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

  void kill() {
    pods.values().forEach(LocalPod::kill);
  }

  boolean isEmpty() {
    return pods.isEmpty();
  }

  void changed(LocalPod pod) {
    publishEndpoints();
    publishPod(pod);
    publishReplicas();
  }

  void failed(LocalPod pod, Exit exit) {
    publishPod(pod);
    publishFailure(exit);
  }

  void ready(LocalPod pod) {
    log.info("Pod {} is ready", pod.name());
    publishConditions(now -> now.hold("ContainerHealthy").hold("Ready"));
  }

  void removed(LocalPod pod) {
    pods.remove(pod.name());
    log.info("Pod {} is gone", pod.name());
    objects.delete(Kinds.POD, revision.id().namespace(), pod.name());
    kubelet.forget(revision.id().namespace(), pod.name());
    publishReplicas();
  }

  private void settle() {
    var step = Replicas.of(wanted, views());
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
      pod = kubelet.makePod(revision, this);
    } catch (IllegalStateException | UncheckedIOException noPort) {
      cannotMake(noPort);
      return;
    }
    refusals = 0;
    pods.put(pod.name(), pod);
    pod.start();
    publishEndpoints();
    objects.create(Kinds.POD, PodObjects.withStatus(
        PodObjects.pod(revision, pod.name(), labels), pod.view(), ""));
    publishReplicas();
  }

  private void cannotMake(RuntimeException noPort) {
    log.warn("No pod of {} can be made; trying again", revision.id(), noPort);
    publishFailure(Exit.cannotRun(revision.id().name(), String.valueOf(noPort.getMessage())));
    again = loop.schedule(PodState.pauseAfter(refusals++), () -> {
      again = null;
      settle();
    });
  }

  private void publishEndpoints() {
    if (!retired) {
      var subsets = PodObjects.subsets(revision, pods.values());
      objects.edit(Kinds.ENDPOINTS, revision.id().namespace(),
          ChildName.ofPrivateService(revision.id().name()),
          endpoints -> endpoints.set("subsets", subsets));
    }
  }

  private void publishPod(LocalPod pod) {
    objects.updateStatus(Kinds.POD, revision.id().namespace(), pod.name(),
        object -> PodObjects.withStatus(object, pod.view(), pod.failure()));
  }

  private void publishFailure(Exit exit) {
    publishConditions(now -> now.fail("ContainerHealthy", exit.reason(), exit.message())
        .fail("Ready", exit.reason(), exit.message()));
  }

  private void publishConditions(Consumer<Conditions> change) {
    objects.updateStatus(Kinds.REVISION, revision.id().namespace(), revision.id().name(),
        object -> change.accept(Conditions.of(object, clock.instant())));
  }

  private void publishReplicas() {
    if (!retired) {
      objects.updateStatus(Kinds.DEPLOYMENT, revision.id().namespace(),
          RevisionObjects.deploymentName(revision.id().name()),
          deployment -> PodObjects.withReplicas(deployment, views()));
    }
  }

  private List<PodView> views() {
    return pods.values().stream().map(LocalPod::view).toList();
  }
}
