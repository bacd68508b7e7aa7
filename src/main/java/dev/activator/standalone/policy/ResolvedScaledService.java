package dev.activator.standalone.policy;

import dev.activator.knative.policy.MergedEndpoints;
import dev.activator.kube.policy.IpFamily;
import dev.activator.knative.policy.ContainerProbe.Action;
import dev.activator.standalone.policy.ScaledWorkload.Probing;
import dev.activator.config.RevisionAnnotations;
import dev.activator.revision.PodIdentity;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.KeepWarmSettings;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.ScaledServiceSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A ScaledService with its resolved references: its revisions and pods, its scaling target, and the
 * problems that were found.
 *
 * @param target what is scaled and how; null if the ScaledService must not scale its workload, or
 *     the workload does not exist or cannot be scaled
 * @param ports the revisions and pods of the other ports that its rules name
 * @param taken its hosts and rules that are not applied, because an older object has them or the
 *     namespace may not claim them
 * @param troubles the reasons why it is not ready, the most important first
 * @param warnings problems that do not stop it from working; they are published as Events
 * @param remarks the parts of the workload that were ignored, for the log
 */
public record ResolvedScaledService(ScaledService object, Revision revision, PrivateEndpoints pods,
    List<Backend> ports, @Nullable ScaledServiceSpec target,
    List<ScaledServiceRouteTable.Taken> taken,
    List<Trouble> troubles,
    List<Trouble> warnings, List<String> remarks) {
  public ResolvedScaledService {
    ports = List.copyOf(ports);
    taken = List.copyOf(taken);
    troubles = List.copyOf(troubles);
    warnings = List.copyOf(warnings);
    remarks = List.copyOf(remarks);
  }

  private static final String RULE_PORT_NOT_FOUND = "RulePortNotFound";
  private static final String SELECTS_OTHERS = "ServiceSelectsOtherPods";
  private static final String TIMEOUT_TOO_LONG = "TimeoutTooLong";
  private static final String SPEAKS_TLS = "PodsSpeakTls";
  private static final String RULE_PORT_SPEAKS_TLS = "RulePortSpeaksTls";
  private static final String NO_AUTHORITY = "NoValidCACertificate";
  private static final List<String> NO_PODS = List.of("ServiceNotFound", "PortNotFound",
      SPEAKS_TLS, NO_AUTHORITY);
  /** The reasons for which a request cannot start a pod, so that it is rejected. */
  private static final Set<String> NEVER_STARTS = Set.of("ServiceNotFound", "PortNotFound",
      SPEAKS_TLS, NO_AUTHORITY, RULE_PORT_NOT_FOUND, RULE_PORT_SPEAKS_TLS, "TargetNotFound",
      "TargetNotScalable", "TargetTaken");
  /** Those that are also seen for a moment while the object that is named is replaced. */
  private static final Set<String> SEEN_IN_REPLACEMENTS = Set.of("ServiceNotFound",
      "TargetNotFound", SELECTS_OTHERS, NO_AUTHORITY);
  private static final Set<String> REFUSED_BY_KUBERNETES = Set.of("QuotaExceeded", "ScaleFailed");
  private static final String FORBIDDEN = "Forbidden";
  /**
   * The labels that controllers add to pods, so that they are missing in the template. Argo
   * Rollouts adds one of them to the selectors of Services, too.
   */
  private static final Set<String> GIVEN_BY_CONTROLLERS = Set.of("pod-template-hash",
      "rollouts-pod-template-hash", "controller-revision-hash",
      "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index");
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

  public sealed interface WorkloadState {
    record Found(ScaledWorkload workload) implements WorkloadState {}

    /** There is no object with that name. */
    record Missing() implements WorkloadState {}

    /** The kind may not be listed. So the template is unknown, but the workload can be scaled. */
    record Hidden() implements WorkloadState {}

    /** The API does not serve the kind. */
    record NoKind() implements WorkloadState {}

    record NotScalable() implements WorkloadState {}
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
   */
  public record References(@Nullable KubernetesService service,
      Collection<ServiceEndpointSlice> slices,
      WorkloadState workload, List<ScaledServiceRouteTable.Taken> taken,
      @Nullable ScaledService older,
      boolean isNameTaken, List<HpaSpec> hpas, Collection<RevisionId> unknown,
      IpFamily preferred, Duration maxTimeout, @Nullable CaBundle authorities) {}

  /**
   * A port of the Service, and how its pods get requests.
   *
   * @param identity what pods must prove over TLS; null without TLS
   * @param isRefused whether pods get no requests. They still have an identity, because requests to
   *     pods that were listed before must not be sent in plain text
   */
  private record ServedPort(KubernetesService.Port port,
      PodIdentity.@Nullable OfService identity, boolean isRefused) {
    Probing probing(ScaledWorkload workload, List<String> remarks) {
      return workload.probing(port.target(), identity == null ? Action.HTTP : Action.HTTPS,
          remarks);
    }
  }

  public static ResolvedScaledService of(ScaledService object, References found) {
    var troubles = new ArrayList<Trouble>();
    var remarks = new ArrayList<String>();
    var port = port(object, found, troubles);
    workloadTroubles(object, found, troubles);
    if (found.authorities != null && found.authorities.authorities() != null) {
      found.authorities.problems()
          .forEach(problem -> troubles.add(new Trouble("InvalidCACertificateRef", problem)));
    }
    for (var taken : found.taken) {
      troubles.add(taken(object, taken));
    }
    object.routeProblems()
        .forEach(problem -> troubles.add(new Trouble("InvalidRules", problem)));
    if (object.rules() != null) {
      object.rules().problems()
          .forEach(problem -> troubles.add(new Trouble("InvalidRules", problem)));
    }
    object.warmTimes().problems()
        .forEach(problem -> troubles.add(new Trouble("InvalidSchedule", problem)));
    if (!timeout(object, found).equals(object.timeout())) {
      troubles.add(new Trouble(TIMEOUT_TOO_LONG, "spec.timeoutSeconds is "
          + object.timeout().toSeconds() + ", and this installation allows "
          + found.maxTimeout.toSeconds() + " (activator.standalone.max-timeout-seconds), which"
          + " counts until then"));
    }
    var fallback = object.fallback();
    if (fallback != null && found.unknown.contains(fallback)) {
      troubles.add(new Trouble("FallbackNotFound", "the fallback names " + fallback.name()
          + ", and there is no such ScaledService: requests wait"));
    }
    new TreeMap<>(object.annotations()).forEach((name, value) -> RevisionAnnotations
        .problemOfScaledService(name, value)
        .ifPresent(problem -> troubles.add(
            new Trouble("InvalidAnnotation", "annotation " + name + ": " + problem))));
    var first = backend(object, found, object.id(), port, startFailure(object, found, troubles),
        remarks);
    var others = new ArrayList<Backend>();
    var ofRules = new ArrayList<Trouble>();
    for (var name : object.otherPorts()) {
      var other = found.service == null ? null : found.service.port(name);
      var own = new ArrayList<Trouble>(1);
      if (found.service != null && other == null) {
        own.add(new Trouble(RULE_PORT_NOT_FOUND,
            "spec.rules: " + noPort(object, found.service, name)));
      }
      var served = served(object, found, other, RULE_PORT_SPEAKS_TLS, own);
      var all = Stream.concat(own.stream(), troubles.stream()).toList();
      others.add(backend(object, found, object.id().ofPort(name), served,
          startFailure(object, found, all), remarks));
      ofRules.addAll(own);
    }
    ofRules.stream().filter(one -> !troubles.contains(one)).distinct().toList()
        .forEach(troubles::add);
    return new ResolvedScaledService(object, first.revision, first.pods, others,
        isScaled(found) ? target(object, found, refusal(first, others)) : null, found.taken,
        troubles,
        warnings(object, found), remarks.stream().distinct().toList());
  }

  private static Duration timeout(ScaledService object, References found) {
    return object.timeout().compareTo(found.maxTimeout) > 0 ? found.maxTimeout : object.timeout();
  }

  /** @param port the port of the Service; null if it does not exist */
  private static Backend backend(ScaledService object, References found, RevisionId id,
      @Nullable ServedPort port, @Nullable RevisionStartFailure failure, List<String> remarks) {
    var probing = port != null && !port.isRefused
        && found.workload instanceof WorkloadState.Found(var workload)
            ? port.probing(workload, remarks)
            : Probing.WHEN_READY;
    // Requests may still be sent to the former pods of a port that does not exist any more.
    var identity = port == null
        ? PortSecurity.identity(object, found.authorities)
        : port.identity;
    var plain = port == null ? PortProtocol.HTTP1 : port.port.protocol();
    var revision = new Revision(id, object.uid(),
        identity == null ? plain : PortProtocol.NEGOTIATED, object.containerConcurrency(),
        new RequestTimeouts(timeout(object, found), Duration.ZERO, Duration.ZERO),
        probing.beforeReady(), probing.probe(), object.labels(), annotations(object), failure,
        object.rules(), identity);
    return new Backend(revision,
        port == null || port.isRefused
            ? PrivateEndpoints.none(id)
            : pods(id, port.port, found));
  }

  private static Trouble taken(ScaledService object, ScaledServiceRouteTable.Taken taken) {
    var host = "host " + taken.host();
    var by = taken.by();
    if (by == null) {
      return new Trouble("HostNotAllowed", "namespace " + object.id().namespace()
          + " may not claim the " + host + " (activator.standalone.domains)");
    }
    if (!taken.condition().isEmpty()) {
      return new Trouble("RuleTaken",
          host + " with " + taken.condition() + " belongs to ScaledService " + by);
    }
    return new Trouble("HostTaken", host + " belongs to ScaledService " + by
        + (object.routes().isEmpty() || by.namespace().equals(object.id().namespace())
            ? ""
            : ", and rules in another namespace cannot have a part of it"));
  }

  /** The object's annotations, with {@code wakeWith} in the form of a revision's annotation. */
  private static Map<String, String> annotations(ScaledService object) {
    if (object.wakeWith().isEmpty()) {
      return object.annotations();
    }
    var all = new HashMap<>(object.annotations());
    all.put(WAKE_WITH, String.join(",", object.wakeWith()));
    return all;
  }

  private static @Nullable ServedPort port(ScaledService object, References found,
      List<Trouble> troubles) {
    var service = found.service;
    var name = serviceName(object);
    if (service == null) {
      troubles.add(new Trouble("ServiceNotFound", "there is no " + name));
      return null;
    }
    var port = service.port(object.port());
    if (port == null) {
      troubles.add(new Trouble("PortNotFound", noPort(object, service, object.port())));
    }
    if (service.selector().isEmpty()) {
      troubles.add(new Trouble("NoSelector",
          name + " has no selector, so its pods are unknown"));
    }
    return port == null ? null : served(object, found, port, SPEAKS_TLS, troubles);
  }

  /**
   * The port with what its pods must prove; null if it does not exist.
   *
   * @param reason of the trouble that it is not said which certificates to trust
   */
  private static @Nullable ServedPort served(ScaledService object, References found,
      KubernetesService.@Nullable Port port, String reason, List<Trouble> troubles) {
    if (port == null) {
      return null;
    }
    return switch (PortSecurity.of(object, port, found.authorities)) {
      case PortSecurity.Plain _ -> new ServedPort(port, null, false);
      case PortSecurity.Tls(var identity) -> new ServedPort(port, identity, false);
      case PortSecurity.NotSaid(var identity) -> {
        troubles.add(new Trouble(reason, "port " + port + " of " + serviceName(object)
            + " says that its pods speak TLS, and spec.tls does not say which certificates to"
            + " trust: add it, or set the port's appProtocol to http if they speak plain HTTP"));
        yield new ServedPort(port, identity, true);
      }
      case PortSecurity.NoAuthority(var identity, var problems) -> {
        troubles.add(new Trouble(NO_AUTHORITY, String.join("; ", problems)));
        yield new ServedPort(port, identity, true);
      }
    };
  }

  private static String serviceName(ScaledService object) {
    return "Service " + object.id().namespace() + "/" + object.service();
  }

  private static String noPort(ScaledService object, KubernetesService service, String port) {
    return serviceName(object) + " has no port " + port
        + (service.ports().isEmpty()
            ? ""
            : "; it has " + service.ports().stream()
                .map(KubernetesService.Port::toString).collect(Collectors.joining(", ")));
  }

  private static void workloadTroubles(ScaledService object, References found,
      List<Trouble> troubles) {
    var workload = object.workload();
    switch (found.workload) {
      case WorkloadState.Missing() -> troubles.add(new Trouble("TargetNotFound",
          "there is no " + workload + " in namespace " + object.id().namespace()));
      case WorkloadState.NoKind() -> troubles.add(new Trouble("TargetNotScalable",
          "the Kubernetes API has no kind " + workload.kind() + " in " + workload.apiVersion()
              + (Character.isLowerCase(workload.kind().charAt(0))
                  ? "; a kind is spelled as in its manifest, such as Deployment"
                  : "")));
      case WorkloadState.NotScalable() -> troubles.add(new Trouble("TargetNotScalable",
          workload.kind() + " of " + workload.apiVersion() + " has no scale subresource"));
      case WorkloadState.Found(var known) when !known.failure().isEmpty() ->
        troubles.add(new Trouble(
            known.failure().contains("exceeded quota") ? "QuotaExceeded" : "ScaleFailed",
            "no more pods of " + workload + " can be created: " + known.failure()));
      case WorkloadState.Found(var known) -> selectorTrouble(object, found, known)
          .ifPresent(troubles::add);
      case WorkloadState.Hidden _ -> {
      }
    }
    if (found.isNameTaken) {
      troubles.add(new Trouble("NameTaken", "a Knative revision has the same name: give the"
          + " ScaledService another"));
    }
    if (found.older != null) {
      troubles.add(new Trouble("TargetTaken", workload + " is scaled by ScaledService "
          + found.older.id().name() + ", which is older"));
    }
    if (object.maxReplicas().isPresent()) {
      for (var hpa : found.hpas) {
        troubles.add(new Trouble("HpaPresent", "HorizontalPodAutoscaler " + hpa.name() + " scales "
            + workload + ", too: remove it, or spec.maxReplicas; until then only 0 and 1"
            + " are set here"));
      }
    }
  }

  /**
   * The problem that the Service's selector does not match the pod template. Requests may still
   * start pods, since a webhook may add labels to pods.
   */
  private static Optional<Trouble> selectorTrouble(ScaledService object, References found,
      ScaledWorkload workload) {
    return mismatched(found).isEmpty()
        ? Optional.empty()
        : Optional.of(new Trouble(SELECTS_OTHERS, serviceName(object) + " selects no pod of "
            + object.workload() + ": its selector is "
            + new TreeMap<>(Objects.requireNonNull(found.service).selector())
            + ", and the labels of the pods are " + new TreeMap<>(workload.labels())));
  }

  /**
   * The names of the labels in the Service's selector that the pod template lacks or has with
   * another value. A template without containers is not a pod template.
   */
  private static List<String> mismatched(References found) {
    if (found.service == null || !(found.workload instanceof WorkloadState.Found(var workload))
        || workload.labels().isEmpty() || workload.containers().isEmpty()) {
      return List.of();
    }
    return found.service.selector().entrySet().stream()
        .filter(label -> !GIVEN_BY_CONTROLLERS.contains(label.getKey()))
        .filter(label -> !label.getValue().equals(workload.labels().get(label.getKey())))
        .map(Map.Entry::getKey).toList();
  }

  /**
   * Whether the Service can select no pod of the workload, and lists none of another: the template
   * has one of its labels with another value, which no webhook that adds labels mends.
   */
  private static boolean neverMatches(References found) {
    return found.workload instanceof WorkloadState.Found(var workload)
        && mismatched(found).stream().anyMatch(workload.labels()::containsKey)
        && found.slices.stream().allMatch(slice -> slice.members().isEmpty());
  }

  /** The reason why requests are rejected; null if pods can start. */
  private static @Nullable RevisionStartFailure startFailure(ScaledService object,
      References found, List<Trouble> troubles) {
    for (var one : troubles) {
      if (NEVER_STARTS.contains(one.reason())
          || one.reason().equals(SELECTS_OTHERS) && neverMatches(found)) {
        return RevisionStartFailure.shown(one.reason(), one.message());
      }
      if (REFUSED_BY_KUBERNETES.contains(one.reason())) {
        return RevisionStartFailure.lasting(one.reason(), one.message());
      }
    }
    // Only the activator that scales knows this. The others read it from the status.
    var ready = object.status().condition(ScaledServiceStatus.READY);
    return ready != null && ready.status().equals("False") && ready.reason().equals(FORBIDDEN)
        ? RevisionStartFailure.lasting(FORBIDDEN, ready.message())
        : null;
  }

  /** Why requests to all ports are refused, whatever pods there are; empty if some are not. */
  private static String refusal(Backend first, List<Backend> others) {
    var failures = Stream.concat(Stream.of(first), others.stream())
        .map(one -> one.revision.startFailure()).toList();
    var main = failures.getFirst();
    return main != null && failures.stream().allMatch(one -> one != null
        && (NEVER_STARTS.contains(one.reason()) || one.reason().equals(SELECTS_OTHERS)))
            ? main.message()
            : "";
  }

  private static boolean isScaled(References found) {
    return found.older == null && !found.isNameTaken && switch (found.workload) {
      // A missing workload is not scaled. When it appears, scaling begins at once, and need not
      // wait for the retry of a failed read.
      case WorkloadState.Missing _,WorkloadState.NoKind _,WorkloadState.NotScalable _ -> false;
      case WorkloadState.Found _,WorkloadState.Hidden _ -> true;
    };
  }

  private static List<Trouble> warnings(ScaledService object, References found) {
    boolean wantsPods = object.minReplicas() > 0
        || !object.warmTimes().equals(KeepWarmSettings.NONE);
    var hpas = found.hpas.stream().filter(hpa -> hpa.minReplicas() == 0 && wantsPods)
        .map(hpa -> new Trouble("HpaDecidesZero", "HorizontalPodAutoscaler " + hpa.name()
            + " has minReplicas 0, so it decides about the last pod, and spec.minReplicas and"
            + " spec.schedule have no effect: give it 1, or remove them"));
    var unknown = object.wakeWith().stream()
        .filter(name -> found.unknown.contains(object.named(name)))
        .map(name -> new Trouble("WakeWithNotFound",
            "spec.wakeWith names " + name + ", and there is no such ScaledService"));
    return Stream.of(hpas, unknown, Stream.ofNullable(notCaught(object, found)))
        .flatMap(each -> each).toList();
  }

  /** Why requests to the Service are not caught; null if they are, or should not be. */
  private static @Nullable Trouble notCaught(ScaledService object, References found) {
    var service = object.catchService() ? found.service : null;
    if (service == null) {
      return null;
    }
    var port = service.port(object.port());
    if (port != null && PortSecurity.of(object, port, found.authorities).isTls()) {
      return new Trouble("ServiceNotCaught", "callers of port " + port + " of Service "
          + service.name() + " expect TLS with the certificate of its pods, which activators have"
          + " not: remove spec.catchService");
    }
    return service.isLocal()
        ? new Trouble("ServiceNotCaught", "Service " + service.name()
            + " has internalTrafficPolicy Local, with which nodes send no requests to activators:"
            + " give it Cluster, or remove spec.catchService")
        : null;
  }

  private static PrivateEndpoints pods(RevisionId id, KubernetesService.Port port,
      References found) {
    var sets = found.slices.stream().map(slice -> slice.on(port.name(), id)).toList();
    return MergedEndpoints.of(sets, "", found.preferred).pods(id);
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
    return new ScaledServiceSpec(object.id(), object.workload(), goesToZero ? 0 : min,
        hpas.isEmpty() ? object.maxReplicas() : OptionalInt.empty(), goesToZero, object.load(),
        object.containerConcurrency(), object.window(), timeout(object, found),
        object.status().desiredReplicas(), object.warmTimes(), refusal);
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
            : new ResolvedScaledService(object, revision, pods, ports, target.withoutLastDesired(),
                taken,
                troubles, warnings, remarks);
  }

  /**
   * This state, with a trouble for each field whose extension this build lacks.
   *
   * @param installed the names of the extensions of this build
   */
  public ResolvedScaledService withExtensions(Set<String> installed) {
    var missing = object.annotations().keySet().stream().map(RevisionAnnotations::extension)
        .filter(name -> name != null && !installed.contains(name)).distinct().sorted()
        .map(name -> new Trouble("FeatureNotInstalled", "spec." + name
            + " has no effect: this activator was built without the extension " + name))
        .toList();
    return missing.isEmpty()
        ? this
        : new ResolvedScaledService(object, revision, pods, ports, target, taken,
            Stream.concat(troubles.stream(), missing.stream()).toList(), warnings, remarks);
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
        taken, troubles, warnings, remarks);
  }

  private static Revision waiting(Revision revision) {
    return isReplaced(revision) ? revision.withoutStartFailure() : revision;
  }

  private static boolean isReplaced(Revision revision) {
    var failure = revision.startFailure();
    return failure != null && SEEN_IN_REPLACEMENTS.contains(failure.reason());
  }

  /** The revisions and pods of all ports, beginning with the ScaledService's own port. */
  public List<Backend> backends() {
    return Stream.concat(Stream.of(new Backend(revision, pods)), ports.stream()).toList();
  }

  /** Whether callers of the Service's port expect TLS, which its pods speak. */
  boolean isTls(KubernetesService.Port port) {
    return revision.podIdentity() != null || port.isTls();
  }

  /** The number of pods of the Service, ready or not; empty if it is unknown. */
  public OptionalInt listed() {
    return troubles.stream().anyMatch(one -> NO_PODS.contains(one.reason()))
        ? OptionalInt.empty()
        : OptionalInt.of(pods.on(revision.protocol()).all().size());
  }

  /**
   * Whether requests can start pods: false if the workload is not scaled, all requests are refused,
   * or no more pods can be created.
   */
  public boolean canStart() {
    return target != null && target.refusal().isEmpty()
        && troubles.stream().map(Trouble::reason).noneMatch(REFUSED_BY_KUBERNETES::contains);
  }

  /** The number of ready pods that are not terminating. */
  public int ready() {
    PodsByReadiness listing = pods.on(revision.protocol());
    return listing.ready().minus(listing.ending()).size();
  }
}
