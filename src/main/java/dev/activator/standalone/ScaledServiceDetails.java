package dev.activator.standalone;

import dev.activator.kube.LeadershipStatus;
import dev.activator.platform.ScalingReport;
import dev.activator.platform.WorkloadDetails;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScalingView;
import dev.activator.standalone.policy.ScaledServiceStatus;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.ScaledServiceStatus.Condition;
import dev.activator.platform.RevisionDetailsSource.Setting;
import dev.activator.revision.ScaleTarget;
import dev.activator.standalone.policy.WakeSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The details of a ScaledService, by what is known of it here and by its status. */
record ScaledServiceDetails(ResolvedScaledService state) implements WorkloadDetails {
  private static final Set<String> WITH_LOGS = Set.of("Deployment", "StatefulSet", "DaemonSet");

  private ScaledService object() {
    return state.object();
  }

  @Override
  public String kind() {
    return "ScaledService";
  }

  @Override
  public boolean canStart() {
    return state.canStart();
  }

  @Override
  public ScaleTarget workload() {
    return object().workload();
  }

  @Override
  public boolean takesRequests() {
    return object().tcp().besideHttp();
  }

  /** The URL of the first host that a browser can open. The other hosts are among the settings. */
  @Override
  public @Nullable String url() {
    return object().hosts().stream().filter(host -> !host.startsWith("*") && !isTaken(host))
        .findFirst().map(host -> "http://" + host + "/").orElse(null);
  }

  private boolean isTaken(String host) {
    return state.taken().stream()
        .anyMatch(taken -> taken.host().equals(host) && taken.condition().isEmpty());
  }

  @Override
  public @Nullable Integer maxPods() {
    var max = object().maxReplicas();
    return max.isPresent() ? max.getAsInt() : null;
  }

  @Override
  public List<String> obstacles(@Nullable ScalingView scaling) {
    var all = new LinkedHashSet<String>();
    state.troubles().forEach(trouble -> all.add(trouble.message()));
    var written = object().status().condition("Ready");
    if (scaling != null && scaling.trouble() != null) {
      all.add(scaling.trouble().message());
    } else if (scaling == null && all.isEmpty() && written != null
        && written.status().equals("False")) {
      all.add(written.message());
    }
    state.warnings().forEach(warning -> all.add(warning.message()));
    return List.copyOf(all);
  }

  @Override
  public OptionalInt desiredReplicas() {
    return object().status().desiredReplicas();
  }

  @Override
  public ScalingReport report(@Nullable LeadershipStatus leader) {
    var status = object().status();
    var active = status.condition(ScaledServiceStatus.ACTIVE);
    var ready = status.condition(ScaledServiceStatus.READY);
    boolean isReady = ready == null || !ready.status().equals("False");
    var says = ready == null ? "" : ready.message();
    return new ScalingReport(ScalingReport.orNull(status.desiredReplicas()),
        ScalingReport.orNull(status.replicas()), state.ready(), status.state(),
        active == null ? "UNKNOWN" : active.status().toUpperCase(Locale.ROOT),
        explanation(leader, active == null ? "" : active.message()), isReady ? null : says,
        isReady ? says : "");
  }

  private String explanation(@Nullable LeadershipStatus leader, String active) {
    var who = leader == null || leader.pod().isEmpty()
        ? "no activator is known to scale it now"
        : leader.pod() + " scales it";
    var written = object().status().conditions().isEmpty()
        ? "nothing is written in the status of the ScaledService yet"
        : "this is what the status of the ScaledService says"
            + (object().status().observedGeneration() == object().generation()
                ? ""
                : ", about an older spec")
            + (active.isEmpty() ? "" : ": " + active);
    return who + "; " + written;
  }

  @Override
  public String scaleState() {
    return object().status().state();
  }

  @Override
  public List<Setting> conditions() {
    var idle = object().idle().state();
    return Stream.concat(
        Stream.ofNullable(idle).map(state -> new Setting("its pods", switch (state.phase()) {
          case FALLING_ASLEEP -> "fall asleep once nothing is in flight there";
          case ASLEEP -> "are asleep until the next request";
          case WAKING -> "are being woken";
        }, state.method() + "; since " + state.since())),
        object().status().conditions().stream().map(ScaledServiceDetails::row)).toList();
  }

  private static Setting row(Condition condition) {
    return new Setting("condition " + condition.type(),
        condition.status() + (condition.reason().isEmpty()
            || condition.reason().equals(condition.type()) ? "" : ", " + condition.reason()),
        (condition.message().isEmpty() ? "" : condition.message().replaceAll("[.]$", "") + "; ")
            + "since " + condition.since());
  }

  @Override
  public List<Setting> settings() {
    var rows = new ArrayList<Setting>();
    rows.add(new Setting("scales", workload().toString(),
        isWakeable() ? "spec.wake" : "spec.scaleTargetRef"));
    if (takesRequests()) {
      rows.add(new Setting("requests go to",
          "Service " + object().service() + ", port " + object().port(), "spec.serviceRef"));
      rows.add(new Setting("hosts",
          object().hosts().isEmpty()
              ? object().id().name() + "." + object().id().namespace()
              : String.join(", ", object().hosts()),
          object().hosts().isEmpty() ? "its name" : "spec.hosts"));
    }
    new TreeMap<>(object().status().ports()).forEach((port, number) -> rows.add(new Setting(
        "connections to " + number, "Service " + object().service() + ", port " + port,
        "status.ports")));
    object().routes().forEach(rule -> rows.add(new Setting("rule",
        rule + (rule.port().isEmpty() ? "" : ", to port " + rule.port()), "spec.rules")));
    rows.add(new Setting("replicas", replicas(),
        "spec.minReplicas, spec.maxReplicas"));
    var schedule = object().warmTimes().schedule();
    if (schedule != null) {
      schedule.windows()
          .forEach(window -> rows.add(new Setting("replicas " + window + " " + schedule.zone(),
              "at least " + window.minReplicas(), "spec.schedule")));
    }
    rows.add(new Setting("target", object().load().toString(), "spec.target"));
    int limit = object().containerConcurrency();
    rows.add(new Setting("container concurrency", limit == 0 ? "any number" : "" + limit,
        "spec.containerConcurrency"));
    if (!object().conflicts().with().isEmpty()) {
      rows.add(new Setting("conflicts with", object().conflicts().with().stream()
          .map(RevisionId::name).sorted().collect(Collectors.joining(", ")),
          "spec.conflictsWith"));
    }
    rows.add(new Setting("timeout", seconds(object().timeout()), "spec.timeoutSeconds"));
    rows.add(new Setting("window", seconds(object().window()),
        "spec.scaleDown.stabilizationWindowSeconds"));
    var probe = state.revision().readinessProbe();
    rows.add(new Setting("pods are probed by",
        probe == null ? "Kubernetes only" : "their readinessProbe", workload().toString()));
    return rows;
  }

  private boolean isWakeable() {
    return workload() instanceof WakeSpec;
  }

  private String replicas() {
    int min = object().minReplicas();
    var max = object().maxReplicas();
    return max.isPresent()
        ? min + " to " + max.getAsInt()
        : (min == 0 ? "0 or 1" : "1") + (isWakeable() ? "" : "; an HPA or KEDA may set more");
  }

  private static String seconds(Duration length) {
    return length.toSeconds() + " s";
  }

  @Override
  public String logCommand() {
    var namespace = " -n " + object().id().namespace();
    return WITH_LOGS.contains(workload().kind())
        ? "kubectl logs" + namespace + " " + workload().kind().toLowerCase(Locale.ROOT) + "/"
            + workload().name()
        : "kubectl get pods" + namespace + ", then kubectl logs" + namespace + " <pod>";
  }
}
