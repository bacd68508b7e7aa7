package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.PodProcessRegistry.Running;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.LocalProcessProblems.Restarted;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs the pods of all ReplicaSets as local processes.
 *
 * <p><b>Threads.</b> One loop.
 */
final class Kubelet {
  private static final Logger OUTPUT = LoggerFactory.getLogger("dev.activator.embedded.output");
  static final String LETTERS = "bcdfghjklmnpqrstvwxz2456789";
  private static final int SUFFIX_LENGTH = 5;
  /** Kubernetes' default. */
  private static final int PROGRESS_DEADLINE_SECONDS = 600;
  /** The time from SIGTERM to SIGKILL for a pod whose object is gone. */
  private static final Duration FORCED_GRACE = Duration.ofSeconds(1);
  private static final Duration OUTPUT_KEPT = Duration.ofMinutes(1);
  /** The limit of output lines of restarted processes. */
  private static final int MAX_OUTPUT = 20;

  private final ApiStore store;
  private final Loop loop;
  private final LoopbackPorts ports;
  private final LocalRuntime.Dependencies dependencies;
  private final ControllerWrites objects;
  private final EndpointsController endpoints;
  /** The pods of each ReplicaSet, by its key. */
  private final Map<String, ReplicaSetPods> sets = new HashMap<>();
  /** The pods of deleted ReplicaSets, until the last one has ended. */
  private final List<ReplicaSetPods> retired = new ArrayList<>();
  private final Map<RevisionId, LocalProcessProblems> problems = new ConcurrentHashMap<>();
  private long podsMade;
  private boolean stopping;

  Kubelet(ApiStore store, Loop loop, LoopbackPorts ports, LocalRuntime.Dependencies dependencies) {
    this.store = store;
    this.loop = loop;
    this.ports = ports;
    this.dependencies = dependencies;
    this.objects = new ControllerWrites(store);
    this.endpoints = new EndpointsController(objects, this::podsIn);
  }

  /** Subscribes to the objects on which pods depend. */
  List<ApiStore.StoreSubscription> subscribe() {
    return List.of(store.subscribe(BuiltInKinds.SERVICE, loop, endpoints::serviceChanged),
        store.subscribe(BuiltInKinds.ENDPOINTS, loop, endpoints::endpointsChanged),
        store.subscribe(BuiltInKinds.REPLICA_SET, loop, this::replicaSetChanged),
        store.subscribe(BuiltInKinds.POD, loop, this::podChanged),
        store.subscribe(BuiltInKinds.CONFIG_MAP, loop, this::configChanged),
        store.subscribe(BuiltInKinds.SECRET, loop, this::configChanged));
  }

  private Stream<LocalPod> podsIn(String namespace) {
    return all().filter(one -> one.template().namespace().equals(namespace))
        .flatMap(one -> one.pods().stream());
  }

  private Stream<ReplicaSetPods> all() {
    return Stream.concat(sets.values().stream(), retired.stream());
  }

  private void replicaSetChanged(ApiStoreChange event) {
    var set = event.object();
    if (stopping) {
      return;
    }
    if (event.type() == ApiStoreChange.Type.DELETED) {
      retired.removeIf(ReplicaSetPods::isEmpty);
      var pods = sets.remove(ObjectMeta.key(set));
      if (pods != null) {
        pods.retire();
        retired.add(pods);
      }
      return;
    }
    var pods = sets.computeIfAbsent(ObjectMeta.key(set),
        _ -> new ReplicaSetPods(set, this, endpoints, loop, objects, dependencies.clock()));
    retired.forEach(pods::adopt);
    pods.update(set);
  }

  private void podChanged(ApiStoreChange event) {
    var pod = event.object();
    boolean forced = event.type() == ApiStoreChange.Type.DELETED;
    if (!forced && !ObjectMeta.terminating(pod)) {
      return;
    }
    String name = ObjectMeta.name(pod);
    var grace = forced
        ? FORCED_GRACE
        : Duration.ofSeconds(pod.at("/metadata/deletionGracePeriodSeconds").asLong(0));
    var owners = all().filter(one -> one.runs(ObjectMeta.namespace(pod), name)).toList();
    owners.forEach(one -> one.deleted(name, grace, forced));
    if (owners.isEmpty() && !forced && !stopping) {
      objects.removePod(ObjectMeta.namespace(pod), name);
    }
  }

  private void configChanged(ApiStoreChange event) {
    all().forEach(ReplicaSetPods::configChanged);
  }

  /**
   * Makes a pod, which is not started yet. <b>Errors.</b> Throws the exceptions of
   * {@link LoopbackPorts#next}.
   */
  LocalPod makePod(PodTemplate template, ReplicaSetPods owner) {
    String name = podName(template);
    return new LocalPod(loop, owner, podsMade++, template, name, ports.next(),
        this);
  }

  /** Freezes the pods at these addresses. Returns why one cannot be frozen; empty if all are. */
  String freeze(Collection<Destination> pods) {
    return at(pods).map(LocalPod::freeze).filter(problem -> !problem.isEmpty()).findFirst()
        .orElse("");
  }

  void thaw(Collection<Destination> pods) {
    at(pods).forEach(LocalPod::thaw);
  }

  private Stream<LocalPod> at(Collection<Destination> pods) {
    return all().flatMap(one -> one.pods().stream())
        .filter(pod -> pods.contains(new Destination(PodObjectBuilder.LOOPBACK, pod.port())));
  }

  /** Whether the activator sends requests to a pod. */
  boolean sends(Destination pod) {
    return dependencies.sends().test(pod);
  }

  /** The number of requests in flight on a pod. */
  int inFlight(Destination pod) {
    return dependencies.inFlight().applyAsInt(pod);
  }

  PodProcess.Starter starter(PodTemplate template) {
    return template.isSample() ? HelloProcess.on(loop) : LocalProcess.on(loop);
  }

  /**
   * The environment of a process. It is resolved for each run, since the objects that it refers to
   * may change.
   */
  ContainerEnvironment environment(PodTemplate template, String pod) {
    var object = store.find(BuiltInKinds.POD, template.namespace(), pod);
    return ContainerEnvironment.of(template.container(),
        (kind, name) -> store.find(kind, template.namespace(), name),
        Objects.requireNonNullElseGet(object,
            () -> ControllerWrites.named(BuiltInKinds.POD, template.namespace(), pod)));
  }

  /** Begins the output of a run, which is stored and, if configured, logged. */
  ProcessOutputReader output(PodTemplate template, String pod) {
    String workload = template.id().name();
    return new ProcessOutputReader(store.podLogs().begin(template.namespace(), pod),
        dependencies.clock(),
        line -> {
          if (dependencies.logsOutput()) {
            OUTPUT.info("{}: {}", workload, line);
          }
        });
  }

  void began(PodTemplate template, String pod, PodProcess process, PodProcess.Spec spec) {
    store.podProcesses().began(template.namespace(), pod,
        new Running(process::pid, spec::builder));
  }

  void ended(PodTemplate template, String pod) {
    store.podProcesses().ended(template.namespace(), pod);
  }

  /** The time within which a pod of this template must become ready. */
  Duration progressDeadline(PodTemplate template) {
    var deployment = store.find(BuiltInKinds.DEPLOYMENT, template.namespace(), template.workload());
    return Duration.ofSeconds(deployment == null
        ? PROGRESS_DEADLINE_SECONDS
        : deployment.at("/spec/progressDeadlineSeconds").asLong(PROGRESS_DEADLINE_SECONDS));
  }

  Instant now() {
    return dependencies.clock().instant();
  }

  /** Keeps the output of a pod for a while. */
  void gone(String namespace, String pod, @Nullable ObjectNode last) {
    store.podLogs().end(namespace, pod, last);
    loop.schedule(OUTPUT_KEPT, () -> store.podLogs().forget(namespace, pod));
  }

  /** The problems of this workload's processes. Any thread may call this. */
  LocalProcessProblems processes(RevisionId workload) {
    var known = problems.getOrDefault(workload, LocalProcessProblems.NONE);
    return known.pods().isEmpty()
        ? known
        : new LocalProcessProblems(known.problem(), known.restarting(), known.pods(),
            store.podLogs().last(workload.namespace(),
                known.pods().stream().map(Restarted::pod).toList(), MAX_OUTPUT));
  }

  void problemChanged(RevisionId workload) {
    var pods = all().filter(one -> one.template().id().equals(workload))
        .flatMap(one -> one.pods().stream()).toList();
    boolean ready = pods.stream().anyMatch(pod -> pod.view().ready());
    var problem = pods.stream().map(LocalPod::problem).filter(one -> !ready && !one.isEmpty())
        .findFirst().orElse("");
    var restarted = pods.stream().map(LocalPod::restarted).filter(Objects::nonNull).toList();
    if (problem.isEmpty() && restarted.isEmpty()) {
      problems.remove(workload);
    } else {
      problems.put(workload, new LocalProcessProblems(problem,
          !ready && pods.stream().anyMatch(LocalPod::isRestarting), restarted, List.of()));
    }
  }

  /** Drains all pods, and starts no new ones. */
  void stop() {
    stopping = true;
    all().toList().forEach(ReplicaSetPods::stop);
  }

  void kill() {
    all().forEach(ReplicaSetPods::kill);
  }

  boolean isEmpty() {
    return all().allMatch(ReplicaSetPods::isEmpty);
  }

  private String podName(PodTemplate template) {
    var name = new StringBuilder(template.name()).append('-');
    for (int i = 0; i < SUFFIX_LENGTH; i++) {
      name.append(LETTERS.charAt(dependencies.random().nextInt(LETTERS.length())));
    }
    return name.toString();
  }
}
