package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.runtime.policy.Exit;
import dev.activator.embedded.runtime.policy.LocalRevision;
import dev.activator.embedded.runtime.policy.PodState;
import dev.activator.embedded.runtime.policy.PodView;
import dev.activator.embedded.runtime.policy.Replicas;
import dev.activator.embedded.runtime.serving.Names;
import dev.activator.loop.Loop;
import dev.activator.revision.PrivateService;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The pods of one revision, and what the API says of them.
 *
 * <p>
 * <b>Threads.</b> Those of one loop.
 *
 * <p>
 * The private Endpoints are written first: requests wait for them.
 *
 * <p>
 * <b>Errors.</b> A pod that cannot be made for want of a port is a failure of the revision, and is
 * tried again after a pause, as a process is that cannot start.
 */
final class RevisionPods implements LocalPod.Listener {
  private static final Logger log = LoggerFactory.getLogger(RevisionPods.class);

  private final LocalRevision revision;
  private final Map<String, String> labels;
  private final PodFactory factory;
  private final Objects objects;
  private final Clock clock;
  private final Map<String, LocalPod> pods = new TreeMap<>();
  private Loop.@Nullable Timer again;
  private int refusals;
  private int wanted;
  private boolean retired;

  RevisionPods(ObjectNode revision, Map<String, String> labels, PodFactory factory, Objects objects,
      Clock clock) {
    this.revision = RevisionReader.read(revision);
    this.labels = Map.copyOf(labels);
    this.factory = factory;
    this.objects = objects;
    this.clock = clock;
  }

  /** There should be this many. */
  void scale(int pods) {
    if (wanted != pods) {
      log.info("{} goes from {} to {} pods", revision.id(), wanted, pods);
      wanted = pods;
    }
    settle();
  }

  /** The revision is gone: its pods end, and its objects are not written any more. */
  void retire() {
    retired = true;
    scale(0);
  }

  /** Someone deleted this pod: it ends, and another takes its place. */
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

  @Override
  public void changed(LocalPod pod) {
    publishEndpoints();
    publishPod(pod);
    publishReplicas();
  }

  @Override
  public void failed(LocalPod pod, Exit exit) {
    publishPod(pod);
    publishFailure(exit);
  }

  @Override
  public void ready(LocalPod pod) {
    log.info("Pod {} is ready", pod.name());
    objects.updateStatus(Kinds.REVISION, revision.id().namespace(), revision.id().name(),
        object -> {
          Conditions.of(object, now()).hold("ContainerHealthy").hold("Ready");
          return object;
        });
  }

  @Override
  public void removed(LocalPod pod) {
    pods.remove(pod.name());
    log.info("Pod {} is gone", pod.name());
    objects.delete(Kinds.POD, revision.id().namespace(), pod.name());
    publishReplicas();
  }

  private void settle() {
    var step = Replicas.of(wanted, views());
    step.surplus().forEach(name -> stop(name));
    for (int i = 0; i < step.missing() && again == null; i++) {
      makeOne();
    }
  }

  private void makeOne() {
    LocalPod pod;
    try {
      pod = factory.make(revision, this);
    } catch (IllegalStateException | UncheckedIOException noPort) {
      cannotMake(noPort);
      return;
    }
    refusals = 0;
    start(pod);
  }

  private void cannotMake(RuntimeException noPort) {
    log.warn("No pod of {} can be made; trying again", revision.id(), noPort);
    publishFailure(Exit.cannotRun(revision.id().name(), String.valueOf(noPort.getMessage())));
    again = factory.loop().schedule(PodState.pauseAfter(refusals++), () -> {
      again = null;
      settle();
    });
  }

  private void start(LocalPod pod) {
    pods.put(pod.name(), pod);
    pod.start();
    objects.create(Kinds.POD, PodObjects.withStatus(
        PodObjects.pod(revision, pod.name(), labels), pod.view(), ""));
    publishReplicas();
  }

  private void stop(String name) {
    var pod = pods.get(name);
    if (pod != null) {
      pod.stop();
    }
  }

  private void publishEndpoints() {
    if (!retired) {
      var subsets = PodObjects.subsets(revision, views());
      objects.edit(Kinds.ENDPOINTS, revision.id().namespace(),
          PrivateService.nameOf(revision.id().name()), endpoints -> {
            endpoints.set("subsets", subsets);
            return endpoints;
          });
    }
  }

  private void publishPod(LocalPod pod) {
    objects.updateStatus(Kinds.POD, revision.id().namespace(), pod.name(),
        object -> PodObjects.withStatus(object, pod.view(), pod.failure()));
  }

  private void publishFailure(Exit exit) {
    objects.updateStatus(Kinds.REVISION, revision.id().namespace(), revision.id().name(),
        object -> {
          Conditions.of(object, now()).fail("ContainerHealthy", exit.reason(), exit.message())
              .fail("Ready", exit.reason(), exit.message());
          return object;
        });
  }

  private void publishReplicas() {
    if (!retired) {
      objects.updateStatus(Kinds.DEPLOYMENT, revision.id().namespace(),
          Names.deployment(revision.id().name()),
          deployment -> PodObjects.withReplicas(deployment, views()));
    }
  }

  private List<PodView> views() {
    return pods.values().stream().map(LocalPod::view).toList();
  }

  private String now() {
    return Timestamps.now(clock);
  }
}
