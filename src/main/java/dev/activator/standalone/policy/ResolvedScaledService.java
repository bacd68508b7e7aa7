package dev.activator.standalone.policy;

import dev.activator.discovery.policy.MergedEndpoints;
import dev.activator.discovery.policy.RevisionEndpointSlice.Member;
import dev.activator.kube.policy.IpFamily;
import dev.activator.config.RevisionAnnotations;
import dev.activator.revision.IdleState;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.ScalingView.ScaleState;
import dev.activator.revision.ScaleTarget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A ScaledService with its resolved references: its revisions and pods, its scaling target, and the
 * problems that were found.
 *
 * @param target what is scaled and how; null if the ScaledService must not scale its workload, or
 *     the workload does not exist or cannot be scaled
 * @param ports the revisions and pods of the other ports: those that its rules name, and those for
 *     connections
 * @param taken its hosts and rules that are not applied, because an older object has them or the
 *     namespace may not claim them
 * @param troubles the reasons why it is not ready, the most important first
 * @param warnings problems that do not stop it from working; they are published as Events
 * @param remarks the parts of the workload that were ignored, for the log
 * @param tcp how connections come to its TCP ports
 * @param present the number of pods in any condition, ending ones included; none while they are
 *     asleep
 */
public record ResolvedScaledService(ScaledService object, Revision revision, PrivateEndpoints pods,
    List<Backend> ports, @Nullable ScaledServiceSpec target,
    List<ScaledServiceRouteTable.Taken> taken,
    List<Trouble> troubles,
    List<Trouble> warnings, List<String> remarks, TcpPortTable.Assigned tcp, int present) {
  public ResolvedScaledService {
    ports = List.copyOf(ports);
    taken = List.copyOf(taken);
    troubles = List.copyOf(troubles);
    warnings = List.copyOf(warnings);
    remarks = List.copyOf(remarks);
  }

  private static final String WAKE_WITH = "activator.dev/wake-with";

  /** The revision and the pods of one port of the Service. */
  public record Backend(Revision revision, PrivateEndpoints pods) {
    public RevisionId id() {
      return revision.id();
    }
  }

  /**
   * A reason why the condition {@code Ready} is false.
   *
   * @param reason one word
   */
  public record Trouble(String reason, String message) {}

  /** Whether the pods of what is woken may get requests. */
  public enum Readiness {
    /** Those that are ready may. */
    OF_PODS,
    /** None may: the condition of the object is not True. */
    NOT_READY,
    /** None may, because the condition of the object cannot be read. */
    UNKNOWN
  }

  public sealed interface WorkloadState {
    record Found(ScaledWorkload workload) implements WorkloadState {}

    /** There is no object with that name. */
    record Missing() implements WorkloadState {}

    /** The kind may not be listed. So the template is unknown, but the workload can be scaled. */
    record Hidden() implements WorkloadState {}

    /** The API does not serve the kind. */
    record NoKind() implements WorkloadState {}

    /** Objects of the kind belong to no namespace. */
    record NoNamespace() implements WorkloadState {}

    /** The kind has no {@code scale}. */
    record NotScalable() implements WorkloadState {}

    /** {@code spec.wake} says how it is started and stopped. */
    record Wakeable(ScaleTarget target, Readiness readiness) implements WorkloadState {}

    /**
     * {@code spec.wake} cannot be followed.
     *
     * @param reason one word
     */
    record NotWakeable(String reason, String message) implements WorkloadState {}
  }

  /**
   * @param service null if it does not exist
   * @param taken the hosts and rules that are not applied
   * @param older the ScaledService that scales the same workload; null if none does
   * @param isNameTaken whether a Knative revision has the same name and namespace
   * @param hpas the known HPAs that scale the same workload
   * @param unknown the objects in {@link ScaledService#others} that do not exist
   * @param maxTimeout the bound of {@code timeoutSeconds}
   * @param authorities null if the object has no {@code tls}
   * @param woken the state whose pods this process has woken; null if there is none
   */
  public record References(@Nullable KubernetesService service,
      Collection<ServiceEndpointSlice> slices,
      WorkloadState workload, List<ScaledServiceRouteTable.Taken> taken,
      @Nullable ScaledService older,
      boolean isNameTaken, List<HpaSpec> hpas, Collection<RevisionId> unknown,
      IpFamily preferred, Duration maxTimeout, @Nullable CaBundle authorities,
      @Nullable IdleState woken) {
    /** The state in which nothing is sent to the pods; null if they run. */
    private @Nullable IdleState idle(ScaledService object) {
      var state = object.idle().state();
      return state == null || state.equals(woken) ? null : state;
    }

    Duration timeout(ScaledService object) {
      return object.timeout().compareTo(maxTimeout) > 0 ? maxTimeout : object.timeout();
    }

    /** Addresses that belong to no pod do not count, since they never go. */
    private int podCount(ScaledService object) {
      var idle = idle(object);
      if (idle != null && idle.phase() == IdleState.Phase.ASLEEP) {
        return 0;
      }
      return (int) slices.stream().flatMap(slice -> slice.members().stream()).map(Member::pod)
          .filter(pod -> !pod.isEmpty()).distinct().count();
    }
  }

  public static ResolvedScaledService of(ScaledService object, References found) {
    return of(object, found, TcpPortTable.Assigned.NONE);
  }

  public static ResolvedScaledService of(ScaledService object, References found,
      TcpPortTable.Assigned tcp) {
    var troubles = new ArrayList<Trouble>();
    var remarks = new ArrayList<String>();
    var port = ServedPort.ofObject(object, found, troubles);
    ScaledServiceTroubles.add(object, found, troubles);
    var first = backend(object, found, object.id(), port,
        ScaledServiceTroubles.startFailure(object, found, troubles),
        remarks, tcp);
    var others = new ArrayList<Backend>();
    var ofOthers = new ArrayList<Trouble>();
    for (var one : ServedPort.others(object, found)) {
      var all = Stream.concat(one.troubles().stream(), troubles.stream()).toList();
      if (!one.isTaken()) {
        others.add(backend(object, found, object.id().ofPort(one.name()), one,
            ScaledServiceTroubles.startFailure(object, found, all), remarks, tcp));
      }
      ofOthers.addAll(one.troubles());
    }
    ofOthers.addAll(tcp.troubles());
    ofOthers.stream().filter(one -> !troubles.contains(one)).distinct().toList()
        .forEach(troubles::add);
    return new ResolvedScaledService(object, first.revision, first.pods, others,
        isScaled(found)
            ? target(object, found, ScaledServiceTroubles.refusal(first, others))
            : null,
        found.taken,
        troubles,
        ScaledServiceTroubles.warnings(object, found), remarks.stream().distinct().toList(),
        tcp, found.podCount(object));
  }

  private static Backend backend(ScaledService object, References found, RevisionId id,
      ServedPort port, @Nullable RevisionStartFailure failure, List<String> remarks,
      TcpPortTable.Assigned tcp) {
    var probing = port.probing(object, found, remarks);
    var revision = new Revision(id, object.uid(), port.protocol(), object.containerConcurrency(),
        new RequestTimeouts(found.timeout(object), Duration.ZERO, Duration.ZERO),
        probing.beforeReady(), probing.probe(), object.labels(),
        annotations(object, port, found, tcp), failure,
        object.rules(), port.identity());
    return new Backend(revision,
        port.isRefused() ? PrivateEndpoints.none(id) : pods(id, object, port.found(), found));
  }

  /**
   * The object's annotations, with {@code wakeWith} in the form of a revision's annotation, and how
   * connections come to the port.
   */
  private static Map<String, String> annotations(ScaledService object, ServedPort port,
      References found, TcpPortTable.Assigned tcp) {
    var all = new HashMap<>(object.annotations());
    if (!object.wakeWith().isEmpty()) {
      all.put(WAKE_WITH, String.join(",", object.wakeWith()));
    }
    all.keySet().removeIf(name -> name.startsWith(RevisionAnnotations.TCP)
        || name.equals(RevisionAnnotations.FALLING_ASLEEP)
        || name.equals(RevisionAnnotations.PODS_HIDDEN));
    var hidden = hidden(object, found);
    if (!hidden.isEmpty()) {
      all.put(RevisionAnnotations.PODS_HIDDEN, hidden);
    }
    var idle = found.idle(object);
    if (idle != null && idle.phase() == IdleState.Phase.FALLING_ASLEEP) {
      all.put(RevisionAnnotations.FALLING_ASLEEP,
          new IdleState.FallingAsleep(idle.version(), 1 + object.otherPorts().size()).toString());
    }
    var connections = object.tcp().find(port.name());
    if (connections != null) {
      all.putAll(connections.settings());
    }
    var number = tcp.open().get(port.name());
    if (number != null) {
      all.put(RevisionAnnotations.TCP_PORT, number.toString());
    }
    var names = tcp.sni().getOrDefault(port.name(), List.of());
    if (!names.isEmpty()) {
      all.put(RevisionAnnotations.TCP_SNI, String.join(",", names));
    }
    return all;
  }

  /** Why no request is sent to pods that exist; empty if there is no such reason. */
  private static String hidden(ScaledService object, References found) {
    var idle = found.idle(object);
    if (idle != null) {
      return switch (idle.phase()) {
        case FALLING_ASLEEP -> "its pods are about to fall asleep, unless requests wait";
        case ASLEEP -> "its pods are asleep until a request wakes them";
        case WAKING -> "its pods are being woken";
      };
    }
    return found.workload instanceof WorkloadState.Wakeable(var target, var readiness)
        ? switch (readiness) {
          case OF_PODS -> "";
          case NOT_READY -> "the condition spec.wake.patch.readyCondition of " + target
              + " is not True";
          case UNKNOWN -> "the condition spec.wake.patch.readyCondition of " + target
              + " cannot be read";
        }
        : "";
  }

  private static boolean isScaled(References found) {
    return found.older == null && !found.isNameTaken && switch (found.workload) {
      // A missing workload is not scaled. When it appears, scaling begins at once, and need not
      // wait for the retry of a failed read.
      case WorkloadState.Missing _,WorkloadState.NoKind _,WorkloadState.NoNamespace _,WorkloadState.NotScalable _,WorkloadState.NotWakeable _ ->
        false;
      case WorkloadState.Found _,WorkloadState.Hidden _,WorkloadState.Wakeable _ -> true;
    };
  }

  private static PrivateEndpoints pods(RevisionId id, ScaledService object,
      KubernetesService.Port port, References found) {
    if (found.idle(object) != null) {
      return PrivateEndpoints.none(id);
    }
    var listed = listed(id, port.name(), found.slices, found.preferred);
    return found.workload instanceof WorkloadState.Wakeable(_, var readiness)
        && readiness != Readiness.OF_PODS ? listed.unready() : listed;
  }

  private static PrivateEndpoints listed(RevisionId id, String port,
      Collection<ServiceEndpointSlice> slices, IpFamily preferred) {
    var sets = slices.stream().map(slice -> slice.on(port, id)).toList();
    return MergedEndpoints.of(sets, "", preferred).pods(id);
  }

  /**
   * The scaling target. If there is an HPA, the activator sets only 0 and 1; if the HPA goes to
   * zero, only 1.
   */
  private static ScaledServiceSpec target(ScaledService object, References found,
      String refusal) {
    var hpas = found.hpas;
    boolean goesToZero = hpas.stream().anyMatch(hpa -> hpa.minReplicas() == 0);
    int min = hpas.isEmpty() ? object.minReplicas() : Math.min(1, object.minReplicas());
    var workload = found.workload instanceof WorkloadState.Wakeable(var wakeable, _)
        ? wakeable
        : object.workload();
    return new ScaledServiceSpec(object.id(), workload, goesToZero ? 0 : min,
        hpas.isEmpty() ? object.maxReplicas() : OptionalInt.empty(), goesToZero, object.load(),
        object.containerConcurrency(), object.window(), found.timeout(object),
        object.status().desiredReplicas(), object.warmTimes(),
        object.conflicts()
            .published(object.status().state().equals(ScaleState.STOPPING.text())),
        refusal);
  }

  /**
   * The state that follows {@code before}. If the workload was not scaled before, or was another
   * one, the replicas that were published last are dropped. So the replicas in its manifest are not
   * taken for a change by another client.
   *
   * @param before null if this is the first state
   */
  public ResolvedScaledService after(@Nullable ResolvedScaledService before) {
    return before == null || target == null
        || before.target != null && before.target.workload().equals(target.workload())
            ? this
            : with(target.withoutLastDesired());
  }

  /**
   * This state, with a trouble for each field whose extension this build lacks.
   *
   * @param installed the names of the extensions of this build
   */
  public ResolvedScaledService withExtensions(Set<String> installed) {
    var needed = new TreeMap<String, String>();
    object.annotations().keySet().stream().map(RevisionAnnotations::extension)
        .filter(Objects::nonNull).forEach(name -> needed.put(name, name));
    if (!object.tcp().names().isEmpty()) {
      needed.put("ports", "tcp");
    }
    if (!object.wakeWith().isEmpty()) {
      needed.put("wakeWith", "wakewith");
    }
    if (object.rules() != null) {
      object.rules().fields().forEach(field -> needed.put(field, "rules"));
    }
    needed.values().removeIf(installed::contains);
    return with(needed.entrySet().stream().map(one -> new Trouble("FeatureNotInstalled",
        "spec." + one.getKey() + " has no effect: this activator was built without the extension "
            + one.getValue()))
        .toList());
  }

  /** This state, with another target. */
  public ResolvedScaledService with(ScaledServiceSpec scaled) {
    return new ResolvedScaledService(object, revision, pods, ports, scaled, taken, troubles,
        warnings, remarks, tcp, present);
  }

  /** This state, with more troubles. */
  public ResolvedScaledService with(List<Trouble> more) {
    return more.isEmpty()
        ? this
        : new ResolvedScaledService(object, revision, pods, ports, target, taken,
            Stream.concat(troubles.stream(), more.stream()).toList(), warnings, remarks, tcp,
            present);
  }

  /**
   * Whether requests are refused because of what is also seen for a moment while the Service or the
   * workload is replaced.
   */
  public boolean mayBeReplaced() {
    return isReplaced(revision);
  }

  /** This state while requests wait for the end of a replacement. */
  public ResolvedScaledService withRequestsWaiting() {
    return new ResolvedScaledService(object, waiting(revision), pods,
        ports.stream().map(port -> new Backend(waiting(port.revision), port.pods)).toList(), target,
        taken, troubles, warnings, remarks, tcp, present);
  }

  private static Revision waiting(Revision revision) {
    return isReplaced(revision) ? revision.withoutStartFailure() : revision;
  }

  private static boolean isReplaced(Revision revision) {
    var failure = revision.startFailure();
    return failure != null && ScaledServiceTroubles.SEEN_IN_REPLACEMENTS.contains(failure.reason());
  }

  /** The revisions and pods of all ports, beginning with the ScaledService's own port. */
  public List<Backend> backends() {
    return Stream.concat(Stream.of(new Backend(revision, pods)), ports.stream()).toList();
  }

  /** The port of the Service that a backend is for, as the ScaledService names it. */
  String port(Backend backend) {
    return backend.id().equals(object.id())
        ? object.port()
        : backend.id().name().substring(object.id().name().length() + 1);
  }

  /** Whether callers of the Service's port expect TLS, which its pods speak. */
  boolean isTls(KubernetesService.Port port) {
    return revision.podIdentity() != null || port.isTls();
  }

  /**
   * The pods that a Service lists for one of its ports, also while they are asleep; null if that does not
   * show which there are. Kubernetes keeps an empty slice for a Service that selects no pod.
   *
   * @param workload null while it is unknown
   */
  public @Nullable PodsByReadiness pods(KubernetesService service, String port,
      @Nullable WorkloadState workload, Collection<ServiceEndpointSlice> slices,
      IpFamily preferred) {
    var all = listed(object.id(), port, slices, preferred).on(revision.protocol());
    boolean isKnown = !slices.isEmpty()
        && slices.stream()
            .allMatch(one -> one.members().isEmpty() || one.ports().containsKey(port))
        && !ScaledServiceTroubles.neverMatches(service, workload);
    return all.all().isEmpty() && !isKnown ? null : all;
  }

  /** The number of pods of the Service, ready or not; empty if it is unknown. */
  public OptionalInt listed() {
    return troubles.stream().anyMatch(one -> ScaledServiceTroubles.NO_PODS.contains(one.reason()))
        ? OptionalInt.empty()
        : OptionalInt.of(pods.on(revision.protocol()).all().size());
  }

  /**
   * Whether requests can start pods: false if the workload is not scaled, all requests are refused,
   * or no more pods can be created.
   */
  public boolean canStart() {
    return target != null && target.refusal().isEmpty()
        && troubles.stream().map(Trouble::reason)
            .noneMatch(ScaledServiceTroubles.REFUSED_BY_KUBERNETES::contains);
  }

  /** The number of ready pods that are not terminating. */
  public int ready() {
    PodsByReadiness listing = pods.on(revision.protocol());
    return listing.ready().minus(listing.ending()).size();
  }
}
