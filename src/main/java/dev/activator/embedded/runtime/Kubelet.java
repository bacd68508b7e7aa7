package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.api.store.Meta;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs as many pods of each revision as its Deployment says.
 *
 * <p>
 * <b>Threads.</b> One loop.
 */
final class Kubelet {
  private static final Logger OUTPUT = LoggerFactory.getLogger("dev.activator.embedded.output");
  private static final String LETTERS = "bcdfghjklmnpqrstvwxz2456789";
  private static final int SUFFIX_LENGTH = 5;

  private final ApiStore store;
  private final Loop loop;
  private final LoopbackPorts ports;
  private final RuntimeSettings settings;
  private final Map<RevisionId, RevisionPods> revisions = new HashMap<>();
  private final List<RevisionPods> retired = new ArrayList<>();
  private long made;
  private boolean stopping;

  Kubelet(ApiStore store, Loop loop, LoopbackPorts ports, RuntimeSettings settings) {
    this.store = store;
    this.loop = loop;
    this.ports = ports;
    this.settings = settings;
  }

  void deploymentChanged(ApiEvent event) {
    var deployment = event.object();
    String name = Meta.labels(deployment).getOrDefault(KnativeLabels.REVISION, "");
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

  void podChanged(ApiEvent event) {
    String name = Meta.labels(event.object()).getOrDefault(KnativeLabels.REVISION, "");
    if (event.type() == ApiEvent.Type.DELETED && !name.isEmpty()) {
      var pods = revisions.get(new RevisionId(Meta.namespace(event.object()), name));
      if (pods != null) {
        pods.deleted(Meta.name(event.object()));
      }
    }
  }

  /** <b>Errors.</b> Throws as {@link LoopbackPorts#next} does. */
  LocalPod makePod(LocalRevision revision, RevisionPods owner) {
    var spec = new UserProcess.Spec(revision, podName(revision), ports.next());
    boolean sample = revision.container().command().isEmpty()
        && revision.container().image().equals(ServingController.SAMPLE_IMAGE);
    return new LocalPod(loop, owner, made++, spec,
        sample ? HelloProcess.on(loop) : LocalProcess.on(loop),
        () -> output(spec), pod -> settings.inFlight().applyAsInt(revision.id(), pod));
  }

  private ProcessOutput output(UserProcess.Spec spec) {
    var id = spec.revision().id();
    return new ProcessOutput(store.podLogs().begin(id.namespace(), spec.pod()), settings.clock(),
        line -> {
          if (settings.logsOutput()) {
            OUTPUT.info("{}: {}", id.name(), line);
          }
        });
  }

  /** A pod has ended. */
  void forget(String namespace, String pod) {
    store.podLogs().forget(namespace, pod);
  }

  /** Drains all pods and starts no more. */
  void stop() {
    stopping = true;
    List.copyOf(revisions.keySet()).forEach(this::retire);
  }

  void kill() {
    retired.forEach(RevisionPods::kill);
  }

  boolean isEmpty() {
    retired.removeIf(RevisionPods::isEmpty);
    return retired.isEmpty() && revisions.values().stream().allMatch(RevisionPods::isEmpty);
  }

  private void scale(RevisionId id, ObjectNode deployment) {
    int replicas = Math.max(0, deployment.path("spec").path("replicas").intValue(1));
    var pods = revisions.get(id);
    if (pods == null && replicas > 0) {
      var revision = store.find(Kinds.REVISION, id.namespace(), id.name());
      if (revision == null) {
        return;
      }
      pods = new RevisionPods(LocalRevision.of(revision), podLabels(deployment), this, loop,
          new StoreWriter(store), settings.clock());
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

  private static Map<String, String> podLabels(JsonNode deployment) {
    return Meta.labels(deployment.path("spec").path("template"));
  }

  private String podName(LocalRevision revision) {
    var name = new StringBuilder(RevisionObjects.deploymentName(revision.id().name())).append('-');
    for (int i = 0; i < SUFFIX_LENGTH; i++) {
      name.append(LETTERS.charAt(settings.random().nextInt(LETTERS.length())));
    }
    return name.toString();
  }
}
