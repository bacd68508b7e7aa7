package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.api.store.PodProcesses.Running;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs as many pods of each Deployment as it says.
 *
 * <p><b>Threads.</b> One loop.
 */
final class Kubelet {
  private static final Logger OUTPUT = LoggerFactory.getLogger("dev.activator.embedded.output");
  private static final String LETTERS = "bcdfghjklmnpqrstvwxz2456789";
  private static final int SUFFIX_LENGTH = 5;

  private final ApiStore store;
  private final Loop loop;
  private final LoopbackPorts ports;
  private final RuntimeSettings settings;
  private final StoreWriter objects;
  private final EndpointsController endpoints;
  /** By the key of the Deployment. */
  private final Map<String, DeploymentPods> deployments = new HashMap<>();
  private final List<DeploymentPods> retired = new ArrayList<>();
  private final Map<RevisionId, String> problems = new ConcurrentHashMap<>();
  private long made;
  private boolean stopping;

  Kubelet(ApiStore store, Loop loop, LoopbackPorts ports, RuntimeSettings settings) {
    this.store = store;
    this.loop = loop;
    this.ports = ports;
    this.settings = settings;
    this.objects = new StoreWriter(store);
    this.endpoints = new EndpointsController(objects, this::podsIn);
    store.onAdmission(Kinds.DEPLOYMENT, PodTemplate::withDefaults);
  }

  /** Calls itself for what it must know. */
  List<ApiStore.StoreSubscription> subscribe() {
    return List.of(store.subscribe(Kinds.SERVICE, loop, endpoints::serviceChanged),
        store.subscribe(Kinds.DEPLOYMENT, loop, this::deploymentChanged),
        store.subscribe(Kinds.POD, loop, this::podChanged),
        store.subscribe(Kinds.CONFIG_MAP, loop, this::configChanged),
        store.subscribe(Kinds.SECRET, loop, this::configChanged));
  }

  private Stream<LocalPod> podsIn(String namespace) {
    return deployments.values().stream()
        .filter(one -> one.template().namespace().equals(namespace))
        .flatMap(one -> one.pods().stream());
  }

  private void deploymentChanged(ApiEvent event) {
    var deployment = event.object();
    if (stopping) {
      return;
    }
    if (event.type() == ApiEvent.Type.DELETED) {
      retire(Meta.key(deployment));
    } else {
      deployments.computeIfAbsent(Meta.key(deployment),
          _ -> new DeploymentPods(deployment, this, endpoints, loop, objects, settings.clock()))
          .update(deployment);
    }
  }

  private void podChanged(ApiEvent event) {
    if (event.type() == ApiEvent.Type.DELETED) {
      deployments.values().stream()
          .filter(one -> one.template().namespace().equals(Meta.namespace(event.object())))
          .forEach(one -> one.deleted(Meta.name(event.object())));
    }
  }

  private void configChanged(ApiEvent event) {
    deployments.values().forEach(DeploymentPods::configChanged);
  }

  /** <b>Errors.</b> Throws as {@link LoopbackPorts#next} does. */
  LocalPod makePod(PodTemplate template, DeploymentPods owner) {
    String name = podName(template);
    return new LocalPod(loop, owner, made++, template, name, ports.next(),
        this, settings.inFlight());
  }

  UserProcess.Starter starter(PodTemplate template) {
    return template.isSample() ? HelloProcess.on(loop) : LocalProcess.on(loop);
  }

  /** Resolved for each run, since what it refers to may change. */
  ContainerEnvironment environment(PodTemplate template, String pod) {
    var object = store.find(Kinds.POD, template.namespace(), pod);
    return ContainerEnvironment.of(template.container(),
        (kind, name) -> store.find(kind, template.namespace(), name),
        Objects.requireNonNullElseGet(object,
            () -> StoreWriter.named(Kinds.POD, template.namespace(), pod)));
  }

  /** Takes what a run prints. */
  ProcessOutput output(PodTemplate template, String pod) {
    String workload = template.id().name();
    return new ProcessOutput(store.podLogs().begin(template.namespace(), pod), settings.clock(),
        line -> {
          if (settings.logsOutput()) {
            OUTPUT.info("{}: {}", workload, line);
          }
        });
  }

  void began(PodTemplate template, String pod, UserProcess process, UserProcess.Spec spec) {
    store.podProcesses().began(template.namespace(), pod,
        new Running(process::pid, spec::builder));
  }

  void ended(PodTemplate template, String pod) {
    store.podProcesses().ended(template.namespace(), pod);
  }

  Instant now() {
    return settings.clock().instant();
  }

  void forget(String namespace, String pod) {
    store.podLogs().forget(namespace, pod);
  }

  /** Why the process of this workload, which runs, is not ready; may be empty. Any thread may ask. */
  String problem(RevisionId workload) {
    return problems.getOrDefault(workload, "");
  }

  void problem(RevisionId workload, String problem) {
    if (problem.isEmpty()) {
      problems.remove(workload);
    } else {
      problems.put(workload, problem);
    }
  }

  /** Drains all pods and starts no more. */
  void stop() {
    stopping = true;
    List.copyOf(deployments.keySet()).forEach(this::retire);
  }

  void kill() {
    retired.forEach(DeploymentPods::kill);
  }

  boolean isEmpty() {
    retired.removeIf(DeploymentPods::isEmpty);
    return retired.isEmpty() && deployments.values().stream().allMatch(DeploymentPods::isEmpty);
  }

  private void retire(String key) {
    retired.removeIf(DeploymentPods::isEmpty);
    var pods = deployments.remove(key);
    if (pods != null) {
      pods.retire();
      retired.add(pods);
    }
  }

  private String podName(PodTemplate template) {
    var name = new StringBuilder(template.deployment()).append('-');
    for (int i = 0; i < SUFFIX_LENGTH; i++) {
      name.append(LETTERS.charAt(settings.random().nextInt(LETTERS.length())));
    }
    return name.toString();
  }
}
