package dev.activator.standalone.policy;

import dev.activator.config.RevisionAnnotations;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.policy.ResolvedScaledService.Backend;
import dev.activator.standalone.policy.ResolvedScaledService.Readiness;
import dev.activator.standalone.policy.ResolvedScaledService.References;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is wrong with a ScaledService and the objects that it names: why it is not ready, why its
 * requests cannot start a pod, and warnings.
 */
final class ScaledServiceTroubles {
  static final String RULE_PORT_NOT_FOUND = "RulePortNotFound";
  private static final String SELECTS_OTHERS = "ServiceSelectsOtherPods";
  private static final String TIMEOUT_TOO_LONG = "TimeoutTooLong";
  static final String SPEAKS_TLS = "PodsSpeakTls";
  static final String RULE_PORT_SPEAKS_TLS = "RulePortSpeaksTls";
  static final String TCP_PORT_NOT_FOUND = "TcpPortNotFound";
  static final String PORT_TAKEN = "PortTaken";
  static final String NO_AUTHORITY = "NoValidCACertificate";
  /** Those with which it is not known how many pods there are. */
  static final List<String> NO_PODS = List.of("ServiceNotFound", "PortNotFound",
      SPEAKS_TLS, NO_AUTHORITY);
  /** The reasons for which a request cannot start a pod, so that it is rejected. */
  private static final Set<String> NEVER_STARTS = Set.of("ServiceNotFound", "PortNotFound",
      SPEAKS_TLS, NO_AUTHORITY, RULE_PORT_NOT_FOUND, RULE_PORT_SPEAKS_TLS,
      TCP_PORT_NOT_FOUND, "TargetNotFound", "TargetNotScalable", "TargetTaken", "InvalidWake",
      "FeatureNotInstalled");
  /** Those that are also seen for a moment while the object that is named is replaced. */
  static final Set<String> SEEN_IN_REPLACEMENTS = Set.of("ServiceNotFound",
      "TargetNotFound", SELECTS_OTHERS, NO_AUTHORITY);
  static final Set<String> REFUSED_BY_KUBERNETES = Set.of("QuotaExceeded", "ScaleFailed");
  private static final String FORBIDDEN = "Forbidden";
  /** What only the activator that scales knows of an object that is not watched. */
  private static final Set<String> READ_FROM_STATUS = Set.of(FORBIDDEN, "TargetNotFound",
      "TargetNotScalable");
  /**
   * The labels that controllers add to pods, so that they are missing in the template. Argo
   * Rollouts adds one of them to the selectors of Services, too.
   */
  private static final Set<String> GIVEN_BY_CONTROLLERS = Set.of("pod-template-hash",
      "rollouts-pod-template-hash", "controller-revision-hash",
      "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index");

  private ScaledServiceTroubles() {}

  /** Adds all troubles but those of ports. */
  static void add(ScaledService object, References found, List<Trouble> troubles) {
    addWorkload(object, found, troubles);
    if (found.authorities() != null && found.authorities().authorities() != null) {
      found.authorities().problems()
          .forEach(problem -> troubles.add(new Trouble("InvalidCACertificateRef", problem)));
    }
    for (var taken : found.taken()) {
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
    if (!found.timeout(object).equals(object.timeout())) {
      troubles.add(new Trouble(TIMEOUT_TOO_LONG, "spec.timeoutSeconds is "
          + object.timeout().toSeconds() + ", and this installation allows "
          + found.maxTimeout().toSeconds() + " (activator.standalone.max-timeout-seconds), which"
          + " counts until then"));
    }
    var fallback = object.fallback();
    if (fallback != null && found.unknown().contains(fallback)) {
      troubles.add(new Trouble("FallbackNotFound", "the fallback names " + fallback.name()
          + ", and there is no such ScaledService: requests wait"));
    }
    object.conflicts().with().stream().filter(found.unknown()::contains).sorted()
        .forEach(id -> troubles.add(new Trouble("ConflictNotFound", "spec.conflictsWith names "
            + id.name() + ", and there is no such ScaledService in namespace " + id.namespace())));
    new TreeMap<>(object.annotations()).forEach((name, value) -> RevisionAnnotations
        .problemOfScaledService(name, value)
        .ifPresent(problem -> troubles.add(
            new Trouble("InvalidAnnotation", "annotation " + name + ": " + problem))));
  }

  private static Trouble taken(ScaledService object, ScaledServiceRouteTable.Taken taken) {
    var host = "host " + taken.host();
    var by = taken.by();
    if (by == null) {
      return hostNotAllowed(object, taken.host());
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

  static Trouble hostNotAllowed(ScaledService object, String host) {
    return new Trouble("HostNotAllowed", "namespace " + object.id().namespace()
        + " may not claim the host " + host + " (activator.standalone.domains)");
  }

  static String serviceName(ScaledService object) {
    return "Service " + object.id().namespace() + "/" + object.service();
  }

  static String noPort(ScaledService object, KubernetesService service, String port) {
    return serviceName(object) + " has no port " + port
        + (service.ports().isEmpty()
            ? ""
            : "; it has " + service.ports().stream()
                .map(KubernetesService.Port::toString).collect(Collectors.joining(", ")));
  }

  private static void addWorkload(ScaledService object, References found,
      List<Trouble> troubles) {
    var workload = object.workload();
    switch (found.workload()) {
      case WorkloadState.Missing() -> troubles.add(new Trouble("TargetNotFound",
          "there is no " + workload + " in namespace " + object.id().namespace()));
      case WorkloadState.NoKind() -> troubles.add(new Trouble("TargetNotScalable",
          "the Kubernetes API has no kind " + workload.kind() + apiVersion(" in ", workload)
              + (Character.isLowerCase(workload.kind().charAt(0))
                  ? "; a kind is spelled as in its manifest, such as Deployment"
                  : "")));
      case WorkloadState.NoNamespace() -> troubles.add(new Trouble("TargetNotScalable",
          workload.kind() + apiVersion(" of ", workload) + " belongs to no namespace"));
      case WorkloadState.NotScalable() -> troubles.add(new Trouble("TargetNotScalable",
          workload.kind() + apiVersion(" of ", workload) + " has no scale subresource"));
      case WorkloadState.Found(var known) when !known.failure().isEmpty() ->
        troubles.add(new Trouble(
            known.failure().contains("exceeded quota") ? "QuotaExceeded" : "ScaleFailed",
            "no more pods of " + workload + " can be created: " + known.failure()));
      case WorkloadState.Found(var known) -> selectorTrouble(object, found, known)
          .ifPresent(troubles::add);
      case WorkloadState.NotWakeable(var reason, var message) ->
        troubles.add(new Trouble(reason, message));
      case WorkloadState.Wakeable(var target, var readiness) when readiness == Readiness.UNKNOWN ->
        troubles
            .add(new Trouble(FORBIDDEN, "pods get no requests, because the condition of " + target
                + " cannot be read: this activator may not list objects of its kind"));
      case WorkloadState.Hidden _,WorkloadState.Wakeable _ -> {
      }
    }
    if (found.isNameTaken()) {
      troubles.add(new Trouble("NameTaken", "a Knative revision has the same name: give the"
          + " ScaledService another"));
    }
    if (found.older() != null) {
      troubles.add(new Trouble("TargetTaken", workload + " is scaled by ScaledService "
          + found.older().id().name() + ", which is older"));
    }
    if (object.maxReplicas().isPresent()) {
      for (var hpa : found.hpas()) {
        troubles.add(new Trouble("HpaPresent", "HorizontalPodAutoscaler " + hpa.name() + " scales "
            + workload + ", too: remove it, or spec.maxReplicas; until then only 0 and 1"
            + " are set here"));
      }
    }
  }

  private static String apiVersion(String before, ScaleTarget workload) {
    return workload instanceof ScaleTargetRef ref ? before + ref.apiVersion() : "";
  }

  /**
   * The problem that the Service's selector does not match the pod template. Requests may still
   * start pods, since a webhook may add labels to pods.
   */
  private static Optional<Trouble> selectorTrouble(ScaledService object, References found,
      ScaledWorkload workload) {
    return mismatched(found.service(), found.workload()).isEmpty()
        ? Optional.empty()
        : Optional.of(new Trouble(SELECTS_OTHERS, serviceName(object) + " selects no pod of "
            + object.workload() + ": its selector is "
            + new TreeMap<>(Objects.requireNonNull(found.service()).selector())
            + ", and the labels of the pods are " + new TreeMap<>(workload.labels())));
  }

  /**
   * The names of the labels in the Service's selector that the pod template lacks or has with
   * another value. A template without containers is not a pod template.
   */
  private static List<String> mismatched(@Nullable KubernetesService service,
      WorkloadState state) {
    if (service == null || !(state instanceof WorkloadState.Found(var workload))
        || workload.labels().isEmpty() || workload.containers().isEmpty()) {
      return List.of();
    }
    return service.selector().entrySet().stream()
        .filter(label -> !GIVEN_BY_CONTROLLERS.contains(label.getKey()))
        .filter(label -> !label.getValue().equals(workload.labels().get(label.getKey())))
        .map(Map.Entry::getKey).toList();
  }

  /**
   * Whether the Service can select no pod of the workload: the template has one of its labels with
   * another value, which no webhook that adds labels mends.
   */
  static boolean neverMatches(KubernetesService service, @Nullable WorkloadState state) {
    return state instanceof WorkloadState.Found(var workload)
        && mismatched(service, state).stream().anyMatch(workload.labels()::containsKey);
  }

  /** The same of one that lists no pod of another workload. */
  private static boolean neverMatches(References found) {
    return found.service() != null && neverMatches(found.service(), found.workload())
        && found.slices().stream().allMatch(slice -> slice.members().isEmpty());
  }

  /** The reason why requests are rejected; null if pods can start. */
  static @Nullable RevisionStartFailure startFailure(ScaledService object,
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
    return ready != null && ready.status().equals("False")
        && (ready.reason().equals(FORBIDDEN) || found.workload() instanceof WorkloadState.Wakeable
            && READ_FROM_STATUS.contains(ready.reason()))
                ? RevisionStartFailure.lasting(ready.reason(), ready.message())
                : null;
  }

  /** Why requests to all ports are refused, whatever pods there are; empty if some are not. */
  static String refusal(Backend first, List<Backend> others) {
    var failures = Stream.concat(Stream.of(first), others.stream())
        .map(one -> one.revision().startFailure()).toList();
    var main = failures.getFirst();
    return main != null && failures.stream().allMatch(one -> one != null
        && (NEVER_STARTS.contains(one.reason()) || one.reason().equals(SELECTS_OTHERS)))
            ? main.message()
            : "";
  }

  static List<Trouble> warnings(ScaledService object, References found) {
    boolean wantsPods = object.minReplicas() > 0
        || !object.warmTimes().equals(KeepWarmSettings.NONE);
    var hpas = found.hpas().stream().filter(hpa -> hpa.minReplicas() == 0 && wantsPods)
        .map(hpa -> new Trouble("HpaDecidesZero", "HorizontalPodAutoscaler " + hpa.name()
            + " has minReplicas 0, so it decides about the last pod, and spec.minReplicas and"
            + " spec.schedule have no effect: give it 1, or remove them"));
    var unknown = object.wakeWith().stream()
        .filter(name -> found.unknown().contains(object.named(name)))
        .map(name -> new Trouble("WakeWithNotFound",
            "spec.wakeWith names " + name + ", and there is no such ScaledService"));
    return Stream.of(hpas, unknown, Stream.ofNullable(notCaught(object, found)))
        .flatMap(each -> each).toList();
  }

  /** Why requests to the Service are not caught; null if they are, or should not be. */
  private static @Nullable Trouble notCaught(ScaledService object, References found) {
    var service = object.catchService() ? found.service() : null;
    if (service == null) {
      return null;
    }
    var port = service.port(object.port());
    if (port != null && object.tcp().besideHttp()
        && PortSecurity.of(object, port, found.authorities()).isTls()) {
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
}
